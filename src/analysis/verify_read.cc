// Law 2: what a subscript reads.
#include "verifier.h"

namespace sparse_tir {
namespace verifier {
using namespace tir;

void CheckReads(const Scope& scope, const Expr& value) {
  for (const TensorLoad& load : Collect<TensorLoad>(value)) {
    auto buffer = scope.BufferOf(load.source());
    if (!buffer) {
      Refuse({"ST411", scope.innermost().name, "a load of " + Text(load.source()), "loads of sparse buffers",
              "bind the array with S.match_sparse_buffer", load.span()});
    }
    Array<Expr> indices = load.indices();
    for (size_t d = 0; d < indices.size(); ++d) {
      const Axis& axis = (*buffer)->axes[d];
      if (IsStored(axis) && !axis->unique && !scope.IsOwnPosition(*buffer, indices, d)) {
        Refuse({"ST402", scope.innermost().name, Text((*buffer)->buffer, indices) + " searches " + Quoted(axis),
                "a search on a unique axis, or the iterator of " + Quoted(axis) + " itself",
                "a coordinate with several positions has no one value to read", load.span()});
      }
    }
  }
}
}  // namespace verifier
}  // namespace sparse_tir
