#include "divisions.h"

namespace sparse_tir {
using namespace tir;

bool CannotTrap(const Expr& divisor) {
  if (auto imm = divisor.as<IntImm>()) return imm.value().value() != 0 && imm.value().value() != -1;
  auto select = divisor.as<Select>();
  return select && SameExpr(divisor, NonTrapping(select.value().false_value()));
}

Expr NonTrapping(const Expr& divisor) {
  Expr one = IntLit(1, divisor.ty()), is_zero = Equal(divisor, IntLit(0, divisor.ty()));
  if (DTypeOf(divisor).code == kDLUInt) return MakeSelect(is_zero, one, divisor);
  return MakeSelect(is_zero || Equal(divisor, IntLit(-1, divisor.ty())), one, divisor);
}

namespace {
// 0 where the divisor was 0, -1 where it was -1: the dividend has been divided by 1 there.
Expr Correction(const Expr& divisor) {
  Expr zero = IntLit(0, divisor.ty()), one = IntLit(1, divisor.ty()), minus_one = IntLit(-1, divisor.ty());
  return MakeSelect(Equal(divisor, zero), zero, MakeSelect(Equal(divisor, minus_one), minus_one, one));
}

using Hold = std::function<Expr(const Expr&)>;

template <typename Node>
auto Safe(const char* op, bool is_quotient, const Hold& hold) {
  return [=](const Node& n, ffi::StructuralMutatorObj* mutator) -> ffi::Expected<Any> {
    ffi::Expected<Any> done = MutateDefault(n, mutator);
    if (done.is_err()) return done;
    Node node = std::move(done).value().template cast<Node>();
    if (CannotTrap(node.b())) return Any(node);
    Expr divisor = Collect<TensorLoad>(node.b()).empty() ? node.b() : hold(node.b());
    Expr result = Call<Expr>(ffi::Function::GetGlobalRequired(op), node.a(), NonTrapping(divisor), nullptr);
    return Any(is_quotient ? result * Correction(divisor) : result);
  };
}
}  // namespace

Expr SafeDivisions(const Expr& index, const Hold& hold) {
  return ffi::StructuralMutate(
             index, [](const TensorLoad& n, ffi::StructuralMutatorObj*) -> ffi::Expected<Any> { return Any(n); },
             Safe<FloorDiv>("prim._OpFloorDiv", true, hold), Safe<FloorMod>("prim._OpFloorMod", false, hold),
             Safe<Div>("prim._OpTruncDiv", true, hold), Safe<Mod>("prim._OpTruncMod", false, hold))
      .template cast<Expr>();
}
}  // namespace sparse_tir
