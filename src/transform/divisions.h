// Integer divisions that do not trap.
#pragma once
#include <functional>

#include "../tvm_view/visit.h"

namespace sparse_tir {
// The divisor with 1 for 0, and for -1 where signed: the machine traps on these (on -1 for the least integer). No
// branch: TVM may move a division out of one.
tir::Expr NonTrapping(const tir::Expr& divisor);
// A constant other than these two, or made by `NonTrapping`.
bool CannotTrap(const tir::Expr& divisor);
// Law 8 for a subscript: division by zero gives 0. Loads are left alone. Divisors that load are used several times,
// each after `hold`.
tir::Expr SafeDivisions(const tir::Expr& index, const std::function<tir::Expr(const tir::Expr&)>& hold);
}  // namespace sparse_tir
