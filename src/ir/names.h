// Every string that other code may meet: annotation keys, attributes, stages. Python's copy is ir/names.py; a test
// compares the two.
#pragma once

namespace sparse_tir {
namespace names {
// On the block that carries an iteration that is not lowered yet.
constexpr const char* kAxes = "sparse_tir.axes";
constexpr const char* kBuffers = "sparse_tir.buffers";
// On a function.
constexpr const char* kStage = "sparse_tir.stage";
constexpr const char* kCoordinateStage = "coordinate";
constexpr const char* kPositionStage = "position";
constexpr const char* kStorage = "sparse_tir.storage";  // between LowerSparseIter and LowerSparseBuffer
// On a block of the position stage: a plain store that stands for an accumulation, and with which combiner.
constexpr const char* kCombine = "sparse_tir.combine";
// On a combine block: names of index arrays that are injective.
constexpr const char* kOwned = "sparse_tir.owned";
// On a block that searches positions; the buffers that it allocates are scalars of the search.
constexpr const char* kSearch = "sparse_tir.search";
// On the block of a cover nest, which starts every element of an output domain.
constexpr const char* kCover = "sparse_tir.cover";
}  // namespace names
}  // namespace sparse_tir
