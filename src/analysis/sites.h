// The stores of an outermost iteration, each with the way to it.
#pragma once
#include "scope.h"

namespace sparse_tir {
struct Site {
  tir::BufferStore store;
  Scope scope;
  std::vector<size_t> path;  // which statement in each enclosing body, outermost first
};
// The statements of all bodies, in order.
std::vector<Site> StoresOf(const Scope& outermost);
// Those of all inits: a start comes before the statements of its iteration.
std::vector<Site> StartsOf(const Scope& outermost);

// The number of the innermost iteration that holds both, in the stack of either.
size_t InnermostCommon(const Site& a, const Site& b);
// Whether the iteration starts the element that the store of its body writes.
bool HasStart(const Site& site);
// Whether both lists have the iterator as it is, in one place.
bool ContainsInOnePlace(const tir::Expr& var, const Array<tir::Expr>& a, const Array<tir::Expr>& b);
}  // namespace sparse_tir
