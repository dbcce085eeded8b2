// Law 3: which iterators a list of subscripts determines.
#pragma once
#include "../tvm_view/visit.h"
#include "scope.h"

namespace sparse_tir {
// A variable that takes the values [0, extent).
struct RangedVar {
  tir::Var var;
  tir::Expr extent;
};
std::vector<RangedVar> Ranged(const std::vector<SparseIterator>& iterators);

// Of `vars`, those that the element selected by `indices` determines when all other variables are fixed. A variable
// is determined where it occurs as itself, as a non-zero multiple plus terms free of variables, as a digit of a
// mixed-radix sum, or as the pair e // c, e % c.
VarSet Determined(const Array<tir::Expr>& indices, const std::vector<RangedVar>& vars);
}  // namespace sparse_tir
