// LegalizeArithmetic: gives value arithmetic the meaning that laws 5 and 8 demand, where TVM's is another.
//
// \pre loops (no stage). \post the same values on every target.
//
//  * max and min of floats propagate NaN: TVM's compare-and-select loses one that comes first.
//  * signed integer sums, differences and products wrap: in LLVM their overflow is undefined.
//  * integer division by zero gives 0, and by -1 it negates with wrapping: the machine would trap.
//
// Subscripts and searched positions are left alone: addresses are int64 and do not overflow.
#include "../tvm_view/visit.h"
#include "pass.h"

namespace sparse_tir {
namespace {
using namespace tir;

bool IsFloat(const Expr& e) { return DTypeOf(e).code == kDLFloat || DTypeOf(e).code == kDLBfloat; }
bool IsSigned(const Expr& e) { return DTypeOf(e).code == kDLInt; }
bool IsSimple(const Expr& e) { return e.as<Var>() || e.as<TensorLoad>() || e.as<IntImm>() || e.as<FloatImm>(); }

// Not `x != x`: TVM's simplifier takes that for false.
Expr IsNaN(const Expr& x) { return Call<Expr>(ST_GLOBAL("tirx.isnan"), x, nullptr); }

Expr Wrapping(const Expr& a, const Expr& b, const std::function<Expr(const Expr&, const Expr&)>& op) {
  DLDataType from = DTypeOf(a), to = from;
  to.code = kDLUInt;
  return CastTo(op(CastTo(a, to), CastTo(b, to)), from);
}

// Evaluates `e` once in `use`.
Expr WithValue(const Expr& e, const char* name, const std::function<Expr(const Expr&)>& use) {
  if (IsSimple(e)) return use(e);
  Var v = MakeVar(name, e.ty());
  return Call<Expr>(ST_GLOBAL("prim.Let"), v, e, use(v), nullptr);
}

Expr PropagatingNaN(const Expr& a, const Expr& b, bool is_max) {
  return WithValue(a, "lhs", [&](const Expr& x) {
    return WithValue(b, "rhs", [&](const Expr& y) {
      return MakeSelect((is_max ? x > y : x < y) || IsNaN(x), x, y);
    });
  });
}

Expr SafeDivision(const Expr& a, const Expr& b, bool is_quotient,
                  const std::function<Expr(const Expr&, const Expr&)>& op) {
  if (auto imm = b.as<IntImm>(); imm && imm.value().value() != 0 && imm.value().value() != -1) return op(a, b);
  Expr zero = IntLit(0, a.ty()), one = IntLit(1, a.ty()), minus_one = IntLit(-1, a.ty());
  return WithValue(a, "dividend", [&](const Expr& x) {
    return WithValue(b, "divisor", [&](const Expr& y) {
      Expr is_zero = Equal(y, zero), negates = Equal(y, minus_one);
      Expr negated = is_quotient ? Wrapping(zero, x, [](const Expr& p, const Expr& q) { return p - q; }) : zero;
      Expr quotient = op(x, MakeSelect(is_zero || negates, one, y));
      return MakeSelect(is_zero, zero, MakeSelect(negates, negated, quotient));
    });
  });
}

Expr LegalValue(const Expr& value) {
  auto on = [](auto rule) {
    return [rule](const auto& n, ffi::StructuralMutatorObj* m) -> ffi::Expected<Any> {
      using Node = std::decay_t<decltype(n)>;
      ffi::Expected<Any> done = MutateDefault(n, m);
      if (done.is_err()) return done;
      Any result = std::move(done).value();
      auto node = result.template as<Node>();
      return node ? Any(rule(node.value())) : result;
    };
  };
  auto add = [](const Expr& p, const Expr& q) { return p + q; };
  auto sub = [](const Expr& p, const Expr& q) { return p - q; };
  auto mul = [](const Expr& p, const Expr& q) { return p * q; };
  auto wrap = [](const auto& n, auto op) -> Expr { return IsSigned(n) ? Wrapping(n.a(), n.b(), op) : Expr(n); };
  auto extreme = [](const auto& n, bool is_max) -> Expr {
    return IsFloat(n) ? PropagatingNaN(n.a(), n.b(), is_max) : Expr(n);
  };
  auto floor_div = [](const Expr& p, const Expr& q) { return FloorDivide(p, q); };
  auto floor_mod = [](const Expr& p, const Expr& q) { return FloorModulo(p, q); };
  auto trunc_div = [](const Expr& p, const Expr& q) { return Call<Expr>(ST_GLOBAL("prim._OpTruncDiv"), p, q, nullptr); };
  auto trunc_mod = [](const Expr& p, const Expr& q) { return Call<Expr>(ST_GLOBAL("prim._OpTruncMod"), p, q, nullptr); };
  auto divide = [](const auto& n, bool is_quotient, auto op) -> Expr {
    return IsSigned(n) ? SafeDivision(n.a(), n.b(), is_quotient, op) : Expr(n);
  };
  auto typed = [&on](auto rule, auto tag) {
    using Node = decltype(tag);
    return [f = on(rule)](const Node& n, ffi::StructuralMutatorObj* m) { return f(n, m); };
  };
  return ffi::StructuralMutate(
             value, [](const TensorLoad& n, ffi::StructuralMutatorObj*) -> ffi::Expected<Any> { return Any(n); },
             typed([=](const Add& n) { return wrap(n, add); }, Add()),
             typed([=](const Sub& n) { return wrap(n, sub); }, Sub()),
             typed([=](const Mul& n) { return wrap(n, mul); }, Mul()),
             typed([=](const Max& n) { return extreme(n, true); }, Max()),
             typed([=](const Min& n) { return extreme(n, false); }, Min()),
             typed([=](const FloorDiv& n) { return divide(n, true, floor_div); }, FloorDiv()),
             typed([=](const FloorMod& n) { return divide(n, false, floor_mod); }, FloorMod()),
             typed([=](const Div& n) { return divide(n, true, trunc_div); }, Div()),
             typed([=](const Mod& n) { return divide(n, false, trunc_mod); }, Mod()))
      .template cast<Expr>();
}

PrimFunc LegalizeArithmetic(const PrimFunc& f) {
  RequireStage(f, "LegalizeArithmetic", "");
  VarSet positions;  // scalars of searches
  for (const SBlock& block : Collect<SBlock>(f.body())) {
    if (!block.annotations().count(names::kSearch)) continue;
    for (const Var& scalar : block.alloc_buffers()) positions.insert(scalar.get());
  }
  Stmt body = ffi::StructuralMutate(f.body(),
                                    [&](const BufferStore& s, ffi::StructuralMutatorObj*) -> ffi::Expected<Any> {
                                      if (positions.count(s.buffer().get())) return Any(s);
                                      return Any(Store(s.buffer(), LegalValue(s.value()), s.indices()));
                                    })
                  .template cast<Stmt>();
  return WithBody(f, body);
}
}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() { RegisterPass("LegalizeArithmetic", LegalizeArithmetic); }
}  // namespace sparse_tir
