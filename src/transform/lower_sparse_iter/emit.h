// Loops and blocks of one iteration.
#pragma once
#include <functional>

#include "coordinates.h"

namespace sparse_tir {
namespace lower_sparse_iter {
// What stands in the innermost block.
struct Payload {
  Optional<tir::Stmt> init;
  tir::Stmt body;
  Map<String, Any> annotations;
  Array<tir::Var> scalars;  // of searches, local to the block
};
// The block of a payload. What a search reads is not a function of the block's iterators: its regions are whole arrays.
tir::Stmt MakePayloadBlock(const String& name, const Array<tir::IterVar>& iters, const Array<tir::Expr>& values,
                           const Payload& payload);

// `guard`: what must hold for the position not to be padding, if anything.
using MakePayload = std::function<Payload(const Coordinates&, const std::optional<tir::Expr>& guard)>;

// One block per level. A level ends before a variable axis whose parent it enters: the extent of that axis reads indptr
// at the parent's position, and TVM's schedule needs that position to be an iterator of an enclosing block.
//
//   for i in range(m):
//     block spmm_I: vi = spatial(m, i)
//       for j, k in grid(indptr[vi + 1] - indptr[vi], d):
//         block spmm: vj = reduce(nnz, j); vk = spatial(d, k)
//
// `as_reduction`: reduction iterators are so for TVM too (else all are spatial).
tir::Stmt EmitLevels(const SparseIteration& iteration, const Coordinates& around, bool as_reduction,
                     const MakePayload& payload);
}  // namespace lower_sparse_iter
}  // namespace sparse_tir
