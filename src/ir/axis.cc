#include "axis.h"

namespace sparse_tir {
void AxisObj::RegisterReflection() {
  refl::ObjectDef<AxisObj>(refl::init(false))
      .def_ro("name", &AxisObj::name, refl::AttachFieldFlag::SEqHashIgnore())
      .def_ro("parent", &AxisObj::parent)
      .def_ro("length", &AxisObj::length)
      .def_ro("idtype", &AxisObj::idtype)
      .def_ro("sorted", &AxisObj::sorted)
      .def_ro("unique", &AxisObj::unique);
}

void DenseVariableAxisObj::RegisterReflection() {
  refl::ObjectDef<DenseVariableAxisObj>()
      .def_ro("nnz", &DenseVariableAxisObj::nnz)
      .def_ro("indptr", &DenseVariableAxisObj::indptr);
}

void SparseFixedAxisObj::RegisterReflection() {
  refl::ObjectDef<SparseFixedAxisObj>()
      .def_ro("width", &SparseFixedAxisObj::width)
      .def_ro("indices", &SparseFixedAxisObj::indices);
}

void SparseVariableAxisObj::RegisterReflection() {
  refl::ObjectDef<SparseVariableAxisObj>()
      .def_ro("nnz", &SparseVariableAxisObj::nnz)
      .def_ro("indptr", &SparseVariableAxisObj::indptr)
      .def_ro("indices", &SparseVariableAxisObj::indices);
}

Optional<tir::Var> IndptrOf(const Axis& a) {
  if (auto* v = a.as<DenseVariableAxisObj>()) return v->indptr;
  if (auto* v = a.as<SparseVariableAxisObj>()) return v->indptr;
  return std::nullopt;
}

Optional<tir::Var> IndicesOf(const Axis& a) {
  if (auto* v = a.as<SparseFixedAxisObj>()) return v->indices;
  if (auto* v = a.as<SparseVariableAxisObj>()) return v->indices;
  return std::nullopt;
}

tir::Expr PositionsOf(const Axis& a) {
  if (auto* v = a.as<DenseVariableAxisObj>()) return v->nnz;
  if (auto* v = a.as<SparseVariableAxisObj>()) return v->nnz;
  if (auto* v = a.as<SparseFixedAxisObj>()) {
    Optional<Axis> parent = ParentOf(a);
    if (!parent.has_value()) return v->width;
    // A product of extents: in int64, whatever the dtype of the extents.
    return tir::operator*(tir::CastTo(PositionsOf(parent.value()), DLDataType{kDLInt, 64, 1}), v->width);
  }
  return a->length;
}

bool IsAncestor(const Axis& ancestor, const Axis& axis) {
  for (Optional<Axis> a = ParentOf(axis); a.has_value(); a = ParentOf(a.value())) {
    if (a.value().same_as(ancestor)) return true;
  }
  return false;
}

namespace {
template <typename Obj>
ffi::ObjectPtr<Obj> MakeAxis(String name, Optional<Axis> parent, tir::Expr length, String idtype, bool sorted,
                             bool unique) {
  auto n = ffi::make_object<Obj>();
  n->name = name;
  if (parent.has_value()) n->parent = parent.value();
  n->length = length;
  n->idtype = idtype;
  n->sorted = sorted;
  n->unique = unique;
  return n;
}

Axis MakeDenseFixed(String name, tir::Expr length, String idtype) {
  return Axis(MakeAxis<DenseFixedAxisObj>(name, std::nullopt, length, idtype, true, true));
}

Axis MakeDenseVariable(String name, Axis parent, tir::Expr length, tir::Expr nnz, tir::Var indptr, String idtype) {
  auto n = MakeAxis<DenseVariableAxisObj>(name, parent, length, idtype, true, true);
  n->nnz = nnz;
  n->indptr = indptr;
  return Axis(n);
}

Axis MakeSparseFixed(String name, Optional<Axis> parent, tir::Expr length, tir::Expr width, tir::Var indices,
                     String idtype, bool sorted, bool unique) {
  auto n = MakeAxis<SparseFixedAxisObj>(name, parent, length, idtype, sorted, unique);
  n->width = width;
  n->indices = indices;
  return Axis(n);
}

Axis MakeSparseVariable(String name, Axis parent, tir::Expr length, tir::Expr nnz, tir::Var indptr, tir::Var indices,
                        String idtype, bool sorted, bool unique) {
  auto n = MakeAxis<SparseVariableAxisObj>(name, parent, length, idtype, sorted, unique);
  n->nnz = nnz;
  n->indptr = indptr;
  n->indices = indices;
  return Axis(n);
}
}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() {
  AxisObj::RegisterReflection();
  refl::ObjectDef<DenseFixedAxisObj>();
  DenseVariableAxisObj::RegisterReflection();
  SparseFixedAxisObj::RegisterReflection();
  SparseVariableAxisObj::RegisterReflection();
  refl::GlobalDef()
      .def("sparse_tir.ir.DenseFixedAxis", MakeDenseFixed)
      .def("sparse_tir.ir.DenseVariableAxis", MakeDenseVariable)
      .def("sparse_tir.ir.SparseFixedAxis", MakeSparseFixed)
      .def("sparse_tir.ir.SparseVariableAxis", MakeSparseVariable)
      .def("sparse_tir.ir.positions", PositionsOf);
}
}  // namespace sparse_tir
