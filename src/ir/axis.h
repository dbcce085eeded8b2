// Axes: the levels of storage trees.
#pragma once
#include "../tvm_view/build.h"

namespace sparse_tir {
struct Axis;

// What all axes have. The name is a hint for printing, which structural equality ignores.
struct AxisObj : public ffi::Object {
  String name;
  Optional<ObjectRef> parent;  // an Axis
  tir::Expr length;            // coordinates lie in [0, length)
  String idtype;               // dtype of its iterators and structure arrays
  bool sorted = true;          // the coordinates under one parent position ascend
  bool unique = true;          // and none occurs twice

  static void RegisterReflection();
  static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindDAGNode;
  static constexpr uint32_t _type_child_slots = 7;
  TVM_FFI_DECLARE_OBJECT_INFO("sparse_tir.Axis", AxisObj, ffi::Object);
};
struct Axis : public ObjectRef {
  ST_REF_METHODS(Axis, ObjectRef, AxisObj)
};

// Always a root; coordinate and position are the same.
struct DenseFixedAxisObj : public AxisObj {
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("sparse_tir.DenseFixedAxis", DenseFixedAxisObj, AxisObj);
};

// A ragged row; the coordinate is the position in the row.
struct DenseVariableAxisObj : public AxisObj {
  tir::Expr nnz;
  tir::Var indptr;  // (parent positions + 1,)

  static void RegisterReflection();
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("sparse_tir.DenseVariableAxis", DenseVariableAxisObj, AxisObj);
};

// `width` slots under every parent position, or in all if it is a root. A slot whose index equals `length` is padding.
struct SparseFixedAxisObj : public AxisObj {
  tir::Expr width;
  tir::Var indices;  // (parent positions * width,)

  static void RegisterReflection();
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("sparse_tir.SparseFixedAxis", SparseFixedAxisObj, AxisObj);
};

// A compressed row.
struct SparseVariableAxisObj : public AxisObj {
  tir::Expr nnz;
  tir::Var indptr;   // (parent positions + 1,)
  tir::Var indices;  // (nnz,)

  static void RegisterReflection();
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("sparse_tir.SparseVariableAxis", SparseVariableAxisObj, AxisObj);
};

// ---- what passes ask of an axis
inline Optional<Axis> ParentOf(const Axis& a) {
  return a->parent.has_value() ? Optional<Axis>(a->parent.value().as<Axis>().value()) : std::nullopt;
}
inline bool IsDense(const Axis& a) { return a.as<DenseFixedAxisObj>() != nullptr; }
inline bool IsStored(const Axis& a) { return !IsDense(a); }
inline bool IsPadded(const Axis& a) { return a.as<SparseFixedAxisObj>() != nullptr; }
inline bool IsVariable(const Axis& a) {
  return a.as<DenseVariableAxisObj>() != nullptr || a.as<SparseVariableAxisObj>() != nullptr;
}
Optional<tir::Var> IndptrOf(const Axis& a);
Optional<tir::Var> IndicesOf(const Axis& a);
// How many positions the axis stores in all.
tir::Expr PositionsOf(const Axis& a);
bool IsAncestor(const Axis& ancestor, const Axis& axis);
}  // namespace sparse_tir
