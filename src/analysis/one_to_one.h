// Law 3: which iterators a list of subscripts determines.
#pragma once
#include "../tvm_view/visit.h"
#include "scope.h"

namespace sparse_tir {
// Of `iterators`, those that the element selected by `indices` determines when every variable that is in neither list
// is fixed; `free` vary independently. An iterator is determined where it occurs as itself, as a non-zero multiple plus
// terms free of iterators, as a digit of a mixed-radix sum, or as the pair e // c, e % c.
VarSet Determined(const Array<tir::Expr>& indices, const std::vector<SparseIterator>& iterators,
                  const std::vector<SparseIterator>& free);
}  // namespace sparse_tir
