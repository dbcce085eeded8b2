// A sparse buffer: an ordinary buffer variable of the dense coordinate shape, and the axes that say how it is stored.
#pragma once
#include <vector>

#include "axis.h"

namespace sparse_tir {
struct SparseBufferObj : public ffi::Object {
  tir::Var buffer;
  Array<Axis> axes;
  tir::Expr default_value;  // what a coordinate that is not stored reads as

  static void RegisterReflection();
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("sparse_tir.SparseBuffer", SparseBufferObj, ffi::Object);
};
struct SparseBuffer : public ObjectRef {
  ST_REF_METHODS(SparseBuffer, ObjectRef, SparseBufferObj)
};

// The value array has one dimension per dense or fixed-width axis, and one per chain of variable axes.
struct StorageDim {
  size_t first, last;  // axes [first, last] of the buffer share this dimension; a position of `last` enumerates it
  tir::Expr extent;
};
// Throws ST203 where the axes have no layout.
std::vector<StorageDim> StorageLayout(const SparseBuffer& buffer);
}  // namespace sparse_tir
