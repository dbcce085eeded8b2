// The TVM nodes that this project reads. Adding one: a line here and a line in python/sparse_tir/_base.py.
#pragma once
#include "view.h"

namespace sparse_tir {
namespace tir {
enum IterType { kDataPar = 0, kCommReduce = 2 };
enum ForKind { kSerial = 0, kParallel = 1, kVectorized = 2, kUnrolled = 3, kThreadBinding = 4 };

ST_VIEW(Type, ObjectRef, "ir.Type", 1)
ST_VIEW(PrimType, Type, "ir.PrimType", 2, ST_FIELD(dtype, DLDataType))
ST_VIEW(SourceName, ObjectRef, "ir.SourceName", 1, ST_FIELD(name, String))
ST_VIEW(Span, ObjectRef, "ir.Span", 1,
        ST_FIELD(source_name, SourceName) ST_FIELD(line, int64_t) ST_FIELD(column, int64_t)
            ST_FIELD(end_column, int64_t))

// ---- expressions
ST_VIEW(Expr, ObjectRef, "ir.Expr", 1, ST_FIELD(ty, Type) ST_FIELD(span, Optional<Span>))
ST_VIEW(BufferType, Type, "tirx.BufferType", 2,
        ST_FIELD(dtype, PrimType) ST_FIELD(shape, Array<Expr>) ST_FIELD(storage_scope, String))
ST_VIEW(Var, Expr, "ir.Var", 2, ST_FIELD(name, String))
ST_VIEW(IntImm, Expr, "ir.IntImm", 3, ST_FIELD(value, int64_t))
ST_VIEW(FloatImm, Expr, "ir.FloatImm", 3, ST_FIELD(value, double))
ST_VIEW(TensorLoad, Expr, "ir.TensorLoad", 2, ST_FIELD(source, Expr) ST_FIELD(indices, Array<Expr>))
ST_VIEW(Cast, Expr, "prim.Cast", 2, ST_FIELD(value, Expr))
#define ST_BINARY(Name) ST_VIEW(Name, Expr, "prim." #Name, 2, ST_FIELD(a, Expr) ST_FIELD(b, Expr))
ST_BINARY(Add)
ST_BINARY(Sub)
ST_BINARY(Mul)
ST_BINARY(Div)
ST_BINARY(Mod)
ST_BINARY(FloorDiv)
ST_BINARY(FloorMod)
ST_BINARY(Min)
ST_BINARY(Max)
ST_BINARY(EQ)
ST_BINARY(NE)
ST_BINARY(LT)
ST_BINARY(LE)
ST_BINARY(GT)
ST_BINARY(GE)
ST_BINARY(And)
ST_BINARY(Or)
#undef ST_BINARY
ST_VIEW(Not, Expr, "prim.Not", 2, ST_FIELD(a, Expr))
ST_VIEW(Select, Expr, "prim.Select", 2,
        ST_FIELD(condition, Expr) ST_FIELD(true_value, Expr) ST_FIELD(false_value, Expr))
ST_VIEW(Op, Expr, "ir.Op", 2, ST_FIELD(name, String))
ST_VIEW(CallExpr, Expr, "ir.Call", 2, ST_FIELD(op, Expr))
ST_VIEW(TensorRegion, Expr, "ir.TensorRegion", 2, ST_FIELD(source, Expr))
ST_VIEW(Range, ObjectRef, "ir.Range", 1, ST_FIELD(min, Expr) ST_FIELD(extent, Expr))
ST_VIEW(PrimExprConvertible, ObjectRef, "ir.PrimExprConvertible", 1)
ST_VIEW(IterVar, PrimExprConvertible, "tirx.IterVar", 2,
        ST_FIELD(dom, Range) ST_FIELD(var, Var) ST_FIELD(iter_type, int64_t))

ST_VIEW(ConstIntBound, ObjectRef, "sym.ConstIntBound", 1, ST_FIELD(min_value, int64_t) ST_FIELD(max_value, int64_t))

// ---- statements
ST_VIEW(Stmt, ObjectRef, "tirx.Stmt", 1, ST_FIELD(span, Optional<Span>))
ST_VIEW(BufferStore, Stmt, "tirx.BufferStore", 2,
        ST_FIELD(buffer, Var) ST_FIELD(value, Expr) ST_FIELD(indices, Array<Expr>))
ST_VIEW(SeqStmt, Stmt, "tirx.SeqStmt", 2, ST_FIELD(seq, Array<Stmt>))
ST_VIEW(IfThenElse, Stmt, "tirx.IfThenElse", 2,
        ST_FIELD(condition, Expr) ST_FIELD(then_case, Stmt) ST_FIELD(else_case, Optional<Stmt>))
ST_VIEW(For, Stmt, "tirx.For", 2,
        ST_FIELD(loop_var, Var) ST_FIELD(min, Expr) ST_FIELD(extent, Expr) ST_FIELD(kind, int64_t) ST_FIELD(body, Stmt)
            ST_FIELD(thread_binding, Optional<IterVar>) ST_FIELD(annotations, Map<String, Any>)
                ST_FIELD(step, Optional<Expr>))
ST_VIEW(SBlock, Stmt, "s_tir.SBlock", 2,
        ST_FIELD(iter_vars, Array<IterVar>) ST_FIELD(reads, Array<TensorRegion>) ST_FIELD(writes, Array<TensorRegion>)
            ST_FIELD(name_hint, String) ST_FIELD(alloc_buffers, Array<Var>) ST_FIELD(match_buffers, Array<ObjectRef>)
                ST_FIELD(annotations, Map<String, Any>) ST_FIELD(init, Optional<Stmt>) ST_FIELD(body, Stmt))
ST_VIEW(SBlockRealize, Stmt, "s_tir.SBlockRealize", 2,
        ST_FIELD(iter_values, Array<Expr>) ST_FIELD(predicate, Expr) ST_FIELD(block, SBlock))

// ---- functions
ST_VIEW(BaseFunc, Expr, "ir.BaseFunc", 2)
ST_VIEW(PrimFunc, BaseFunc, "tirx.PrimFunc", 3,
        ST_FIELD(params, Array<Var>) ST_FIELD(ret_type, Type) ST_FIELD(body, Stmt)
            ST_FIELD_OF("ir.BaseFunc", attrs, ObjectRef) ST_FIELD_OF("ir.Expr", span, ObjectRef))
}  // namespace tir
}  // namespace sparse_tir
