#include "sparse_buffer.h"

#include "diagnostics.h"

namespace sparse_tir {
void SparseBufferObj::RegisterReflection() {
  refl::ObjectDef<SparseBufferObj>()
      .def_ro("buffer", &SparseBufferObj::buffer)
      .def_ro("axes", &SparseBufferObj::axes)
      .def_ro("default_value", &SparseBufferObj::default_value);
}

namespace {
[[noreturn]] void NoLayout(const SparseBuffer& b, const std::string& found, const std::string& expected) {
  Refuse({"ST203", b->buffer.name(), found, expected, "", std::nullopt});
}

void CheckParentsListed(const SparseBuffer& b) {
  for (size_t i = 0; i < b->axes.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (b->axes[k].same_as(b->axes[i])) NoLayout(b, Quoted(b->axes[i]) + " twice", "every axis once");
    }
    Optional<Axis> parent = ParentOf(b->axes[i]);
    if (!parent.has_value()) continue;
    bool listed = false;
    for (size_t k = 0; k < i; ++k) listed |= b->axes[k].same_as(parent.value());
    if (!listed) {
      NoLayout(b, Quoted(b->axes[i]) + " without its parent " + Quoted(parent.value()) + " before it",
               "parents before children");
    }
  }
}
}  // namespace

std::vector<StorageDim> StorageLayout(const SparseBuffer& b) {
  CheckParentsListed(b);
  std::vector<StorageDim> dims;
  for (size_t i = 0; i < b->axes.size(); ++i) {
    const Axis& axis = b->axes[i];
    size_t first = i;
    if (IsVariable(axis)) {
      // A variable axis takes the place of its ancestors, which must be the dimensions right before it.
      while (!dims.empty() && IsAncestor(b->axes[dims.back().first], axis) &&
             IsAncestor(b->axes[dims.back().last], axis)) {
        first = dims.back().first;
        dims.pop_back();
      }
      size_t ancestors = 0;
      for (Optional<Axis> a = ParentOf(axis); a.has_value(); a = ParentOf(a.value())) ++ancestors;
      if (i - first != ancestors) {
        NoLayout(b, "variable " + Quoted(axis) + " separated from its parent by an axis of another tree or a sibling",
                 "a variable axis right after its ancestors");
      }
    }
    bool fixed = IsPadded(axis);
    tir::Expr extent = fixed ? axis.as<SparseFixedAxisObj>()->width : PositionsOf(axis);
    dims.push_back({first, i, extent});
  }
  return dims;
}

namespace {
SparseBuffer MakeSparseBuffer(tir::Var buffer, Array<Axis> axes, tir::Expr default_value) {
  auto n = ffi::make_object<SparseBufferObj>();
  n->buffer = buffer;
  n->axes = axes;
  n->default_value = default_value;
  SparseBuffer result(n);
  StorageLayout(result);  // refuses what has no layout
  return result;
}

Array<tir::Expr> StorageShape(SparseBuffer b) {
  Array<tir::Expr> shape;
  for (const StorageDim& d : StorageLayout(b)) shape.push_back(d.extent);
  return shape;
}
}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() {
  SparseBufferObj::RegisterReflection();
  refl::GlobalDef()
      .def("sparse_tir.ir.SparseBuffer", MakeSparseBuffer)
      .def("sparse_tir.ir.storage_shape", StorageShape);
}
}  // namespace sparse_tir
