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

template <typename Node>
ffi::Expected<Any> MakeSafe(const Node& n, ffi::StructuralMutatorObj* mutator, const char* op, bool is_quotient) {
  ffi::Expected<Any> done = MutateDefault(n, mutator);
  if (done.is_err()) return done;
  Node node = std::move(done).value().template cast<Node>();
  Expr divisor = node.b();
  if (CannotTrap(divisor)) return Any(node);
  Expr result = Call<Expr>(ffi::Function::GetGlobalRequired(op), node.a(), NonTrapping(divisor), nullptr);
  return Any(is_quotient ? result * Correction(divisor) : result);
}
}  // namespace

Expr SafeDivisions(const Expr& index) {
  using Mutator = ffi::StructuralMutatorObj*;
  return ffi::StructuralMutate(
             index, [](const TensorLoad& n, Mutator) -> ffi::Expected<Any> { return Any(n); },
             [](const FloorDiv& n, Mutator m) { return MakeSafe(n, m, "prim._OpFloorDiv", true); },
             [](const FloorMod& n, Mutator m) { return MakeSafe(n, m, "prim._OpFloorMod", false); },
             [](const Div& n, Mutator m) { return MakeSafe(n, m, "prim._OpTruncDiv", true); },
             [](const Mod& n, Mutator m) { return MakeSafe(n, m, "prim._OpTruncMod", false); })
      .template cast<Expr>();
}
}  // namespace sparse_tir
