// Builders of TVM nodes. Arithmetic goes through TVM's own operators, which fold constants and promote dtypes.
#pragma once
#include <string>

#include "nodes.h"

namespace sparse_tir {
namespace tir {
inline PrimType MakePrimType(DLDataType t) { return Call<PrimType>(ST_GLOBAL("ir.PrimType"), t); }
inline PrimType Int(int bits) { return MakePrimType(DLDataType{kDLInt, static_cast<uint8_t>(bits), 1}); }
inline PrimType Bool() { return MakePrimType(DLDataType{kDLBool, 8, 1}); }
inline DLDataType DTypeOf(const Expr& e) { return e.ty().as<PrimType>().value().dtype(); }
inline Expr IntLit(int64_t v, const Type& ty) {
  return Call<Expr>(ST_GLOBAL("ir.IntImm"), ty.as<PrimType>().value().dtype(), v, nullptr);
}
inline Expr Int64(int64_t v) { return IntLit(v, Int(64)); }
inline Expr CastTo(const Expr& e, DLDataType t) { return Call<Expr>(ST_GLOBAL("prim._cast"), t, e, nullptr); }

#define ST_OPERATOR(symbol, name) \
  inline Expr operator symbol(const Expr& a, const Expr& b) { return Call<Expr>(ST_GLOBAL(name), a, b, nullptr); }
ST_OPERATOR(+, "prim._OpAdd")
ST_OPERATOR(-, "prim._OpSub")
ST_OPERATOR(*, "prim._OpMul")
ST_OPERATOR(<, "prim._OpLT")
ST_OPERATOR(>, "prim._OpGT")
ST_OPERATOR(<=, "prim._OpLE")
ST_OPERATOR(&&, "prim._OpAnd")
ST_OPERATOR(||, "prim._OpOr")
#undef ST_OPERATOR
inline Expr Equal(const Expr& a, const Expr& b) { return Call<Expr>(ST_GLOBAL("prim._OpEQ"), a, b, nullptr); }
inline Expr NotEqual(const Expr& a, const Expr& b) { return Call<Expr>(ST_GLOBAL("prim._OpNE"), a, b, nullptr); }
inline Expr FloorDivide(const Expr& a, const Expr& b) {
  return Call<Expr>(ST_GLOBAL("prim._OpFloorDiv"), a, b, nullptr);
}
inline Expr FloorModulo(const Expr& a, const Expr& b) {
  return Call<Expr>(ST_GLOBAL("prim._OpFloorMod"), a, b, nullptr);
}
inline Expr Minimum(const Expr& a, const Expr& b) { return Call<Expr>(ST_GLOBAL("prim._OpMin"), a, b, nullptr); }
inline Expr Maximum(const Expr& a, const Expr& b) { return Call<Expr>(ST_GLOBAL("prim._OpMax"), a, b, nullptr); }
// Evaluates only the branch that is taken: nothing is loaded through the other one.
inline Expr IfThenElseExpr(const Expr& condition, const Expr& then_value, const Expr& else_value) {
  return Call<Expr>(ST_GLOBAL("prim._OpIfThenElse"), condition, then_value, else_value, nullptr);
}
inline Expr MakeSelect(const Expr& condition, const Expr& then_value, const Expr& else_value) {
  return Call<Expr>(ST_GLOBAL("prim.Select"), condition, then_value, else_value, nullptr);
}

inline Var MakeVar(const String& name, const Type& ty) { return Call<Var>(ST_GLOBAL("ir.Var"), name, ty, nullptr); }
inline Range MakeRange(const Expr& min, const Expr& extent) {
  return Call<Range>(ST_GLOBAL("ir.Range_from_min_extent"), min, extent, nullptr);
}
inline IterVar MakeIterVar(const Expr& extent, const Var& v, int iter_type) {
  return Call<IterVar>(ST_GLOBAL("tirx.IterVar"), MakeRange(IntLit(0, v.ty()), extent), v, iter_type, "", nullptr);
}
inline Expr Load(const Var& buffer, const Array<Expr>& indices) {
  return Call<Expr>(ST_GLOBAL("tirx.BufferLoad"), buffer, indices, nullptr);
}
inline Stmt Store(const Var& buffer, const Expr& value, const Array<Expr>& indices) {
  return Call<Stmt>(ST_GLOBAL("tirx.BufferStore"), buffer, value, indices, nullptr);
}
inline Stmt MakeIf(const Expr& condition, const Stmt& body) {
  return Call<Stmt>(ST_GLOBAL("tirx.IfThenElse"), condition, body, nullptr, nullptr);
}
inline Stmt MakeIfElse(const Expr& condition, const Stmt& then_case, const Stmt& else_case) {
  return Call<Stmt>(ST_GLOBAL("tirx.IfThenElse"), condition, then_case, else_case, nullptr);
}
inline Stmt MakeWhile(const Expr& condition, const Stmt& body) {
  return Call<Stmt>(ST_GLOBAL("tirx.While"), condition, body, nullptr);
}
inline Stmt MakeSeq(const Array<Stmt>& seq) {
  return seq.size() == 1 ? seq[0] : Call<Stmt>(ST_GLOBAL("tirx.SeqStmt"), seq, nullptr);
}
inline Stmt MakeFor(const Var& v, const Expr& extent, const Stmt& body, int64_t kind = kSerial,
                    const Optional<IterVar>& thread = std::nullopt, const Map<String, Any>& annotations = {}) {
  return Call<Stmt>(ST_GLOBAL("tirx.For"), v, IntLit(0, v.ty()), extent, kind, body, thread, annotations, nullptr,
                    nullptr);
}
inline Stmt MakeRealize(const Array<Expr>& values, const Expr& predicate, const Stmt& block) {
  return Call<Stmt>(ST_GLOBAL("s_tir.SBlockRealize"), values, predicate, block, nullptr);
}
// A block with stated reads and writes.
struct Regions {
  Array<TensorRegion> reads, writes;
};
inline Stmt MakeBlock(const String& name, const Array<IterVar>& iters, const Array<Expr>& values,
                      const Optional<Stmt>& init, const Stmt& body, const Map<String, Any>& annotations,
                      const Array<Var>& alloc_buffers, const Regions& regions) {
  Array<ObjectRef> none;
  Stmt block = Call<Stmt>(ST_GLOBAL("s_tir.SBlock"), iters, regions.reads, regions.writes, name, body, init,
                          alloc_buffers, /*match_buffers=*/none, annotations, nullptr);
  return MakeRealize(values, IntLit(1, Bool()), block);
}
// A block whose reads and writes `script.Complete` finds out.
inline Stmt MakeBlock(const String& name, const Array<IterVar>& iters, const Array<Expr>& values,
                      const Optional<Stmt>& init, const Stmt& body, Map<String, Any> annotations) {
  constexpr int kDetectReadsAndWrites = 3;
  annotations.Set("tirx.script_parsing_detect_access", IntLit(kDetectReadsAndWrites, Int(32)));
  return MakeBlock(name, iters, values, init, body, annotations, {}, {});
}
inline TensorRegion MakeRegion(const Var& buffer, const Array<Range>& region) {
  return Call<TensorRegion>(ST_GLOBAL("tirx.BufferRegion"), buffer, region);
}
// The same block with one change.
struct BlockChange {
  std::optional<Optional<Stmt>> init;
  std::optional<Stmt> body;
  std::optional<Array<TensorRegion>> reads;
  std::optional<Map<String, Any>> annotations;
};
inline SBlock CopyBlock(const SBlock& b, const BlockChange& c) {
  return Call<SBlock>(ST_GLOBAL("s_tir.SBlock"), b.iter_vars(), c.reads.value_or(b.reads()), b.writes(), b.name_hint(),
                      c.body.value_or(b.body()), c.init.value_or(b.init()), b.alloc_buffers(), b.match_buffers(),
                      c.annotations.value_or(b.annotations()), nullptr);
}

// A buffer. `alignment` in bytes: what compiled code may assume of its address; 0 is TVM's default.
inline Var MakeBuffer(const String& name, const PrimType& dtype, const Array<Expr>& shape, int alignment = 0,
                      const char* scope = "global") {
  Array<Expr> none;
  Type t = Call<Type>(ST_GLOBAL("tirx.BufferType"), scope, dtype, shape, /*strides=*/none, nullptr, alignment, 0,
                      nullptr, none, nullptr);
  return Call<Var>(ST_GLOBAL("tirx.BufferVar"), name, t, nullptr);
}
inline BufferType BufferTypeOf(const Var& buffer) { return buffer.ty().as<BufferType>().value(); }

// ---- functions and their attributes
inline PrimFunc CopyFunc(const PrimFunc& f, const Array<Var>& params, const Stmt& body) {
  return Call<PrimFunc>(ST_GLOBAL("tirx.PrimFunc"), params, body, f.ret_type(), f.attrs(), f.span());
}
inline PrimFunc WithBody(const PrimFunc& f, const Stmt& body) { return CopyFunc(f, f.params(), body); }
inline PrimFunc WithAttr(const PrimFunc& f, const String& key, const Any& value) {
  return Call<PrimFunc>(ST_GLOBAL("ir.BaseFuncWithAttr"), f, key, value);
}
inline PrimFunc WithoutAttr(const PrimFunc& f, const String& key) {
  return Call<PrimFunc>(ST_GLOBAL("ir.BaseFuncWithoutAttr"), f, key);
}
inline Optional<Any> GetAttr(const PrimFunc& f, const String& key) {
  auto all = Call<Map<String, Any>>(ST_GLOBAL("ir.DictAttrsGetDict"), f.attrs());
  return all.Get(key);
}
// TVM's own inference of reads and writes, and of the root block.
inline PrimFunc CompleteRegions(const PrimFunc& f) {
  return Call<PrimFunc>(ST_GLOBAL("script.Complete"), f, Array<Var>(), true);
}
}  // namespace tir
}  // namespace sparse_tir
