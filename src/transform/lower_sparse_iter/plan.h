// What each statement of an iteration becomes at the position stage.
#pragma once
#include "../../analysis/fold.h"
#include "../../analysis/scope.h"

namespace sparse_tir {
namespace lower_sparse_iter {
enum class Form {
  kReduce,   // a reduction block with an init, which PlaceInit moves later
  kCombine,  // a store that stands for an accumulation into an existing element
  kStore,    // a plain store
};

// An iteration with one statement.
struct Plan {
  Form form;
  tir::BufferStore store;
  std::optional<Fold> fold;               // of kReduce and kCombine
  std::optional<tir::BufferStore> start;  // the init of the element
  bool needs_cover;                       // the loops do not start the whole output domain
};

// \pre `scope` passed the verifier and its innermost iteration has `store` as a statement.
Plan MakePlan(const Scope& scope, const tir::BufferStore& store);

// The iteration that starts every element of the output domain (law 4): the written subscripts over full coordinate
// ranges, or over positions where a stored axis is written.
SparseIteration CoverIteration(const Scope& scope, const Plan& plan);
}  // namespace lower_sparse_iter
}  // namespace sparse_tir
