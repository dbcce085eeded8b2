#include "coordinates.h"

#include "../divisions.h"

#include "../../analysis/index.h"

namespace sparse_tir {
namespace lower_sparse_iter {
using namespace tir;

namespace {
constexpr DLDataType kInt64{kDLInt, 64, 1};
Expr Wide(const Expr& e) { return CastTo(e, kInt64); }

std::optional<Expr> Both(const std::optional<Expr>& a, const std::optional<Expr>& b) {
  return a && b ? *a && *b : a ? a : b;
}

// Compiled code may assume no more of a user's array than the alignment of its elements.
int ElementBytes(const PrimType& t) { return (t.dtype().bits + 7) / 8; }

void CollectBuffers(const Stmt& stmt, std::vector<SparseBuffer>* out) {
  auto realize = stmt.as<SBlockRealize>();
  auto iteration = realize ? IterationOf(realize.value()) : std::nullopt;
  if (!iteration) return;
  for (const SparseBuffer& b : iteration->buffers) out->push_back(b);
  for (const Stmt& s : Statements(iteration->body)) CollectBuffers(s, out);
}
}  // namespace

Storage::Storage(const PrimFunc& func) {
  std::unordered_map<Identity, SparseBuffer> sparse;
  std::vector<SparseBuffer> found;
  for (const Stmt& s : OutermostStatements(func)) CollectBuffers(s, &found);
  for (const SparseBuffer& b : found) sparse.emplace(b->buffer.get(), b);
  for (const Var& p : func.params()) {
    if (!p.ty().as<BufferType>()) continue;
    Array<Expr> shape = BufferTypeOf(p).shape();
    if (auto it = sparse.find(p.get()); it != sparse.end()) {
      shape = Array<Expr>();
      for (const StorageDim& d : StorageLayout(it->second)) shape.push_back(d.extent);
    }
    Add(p, shape);
  }
}

void Storage::Add(const Var& parameter, const Array<Expr>& shape) {
  PrimType dtype = BufferTypeOf(parameter).dtype();
  Var physical = MakeBuffer(parameter.name(), dtype, shape, ElementBytes(dtype));
  physical_.emplace(parameter.get(), physical);
  pairs_.push_back({parameter, physical});
}

const Coordinates::Point& Coordinates::At(const Axis& axis) const {
  auto it = points_.find(axis.get());
  if (it == points_.end()) Bug("axis `" + std::string(axis->name) + "` has not been entered");
  return it->second;
}

Expr Coordinates::LoadIndex(const Var& array, const Expr& place) const {
  return Wide(Load(storage_->Of(array), {place}));
}

Expr Coordinates::Extent(const Axis& axis) const {
  if (auto indptr = IndptrOf(axis); indptr.has_value()) {
    const Expr& parent = At(ParentOf(axis).value()).absolute;
    return LoadIndex(indptr.value(), parent + Int64(1)) - LoadIndex(indptr.value(), parent);
  }
  return Wide(IsPadded(axis) ? axis.as<SparseFixedAxisObj>()->width : axis->length);
}

void Coordinates::Enter(const SparseIterator& iterator, const Var& position) {
  const Axis& axis = iterator.axis;
  Expr absolute = position, coordinate = position;
  if (auto parent = ParentOf(axis); parent.has_value()) {
    const Expr& above = At(parent.value()).absolute;
    auto indptr = IndptrOf(axis);
    absolute = indptr.has_value() ? LoadIndex(indptr.value(), above) + position : above * Extent(axis) + position;
  }
  if (auto indices = IndicesOf(axis); indices.has_value()) coordinate = LoadIndex(indices.value(), absolute);
  points_[axis.get()] = {position, absolute};
  coordinates_[iterator.var.get()] = coordinate;
}

Expr Coordinates::IsNotPadding(const Axis& axis) const {
  return LoadIndex(IndicesOf(axis).value(), At(axis).absolute) < Wide(axis->length);
}

Expr Coordinates::Index(const Scope& scope, const Expr& e) const {
  Expr wide = WidenIndex(e, [&](const Expr& leaf) {
    auto it = coordinates_.find(leaf.get());
    return it == coordinates_.end() ? Wide(Value(scope, leaf)) : it->second;
  });
  return SafeDivisions(wide, [&](const Expr& divisor) {
    return searches_ == nullptr || DTypeOf(divisor).bits != 64 ? divisor : searches_->Hold(divisor);
  });
}

Coordinates Coordinates::WithSearches(Searches* searches) const {
  Coordinates copy = *this;
  copy.searches_ = searches;
  return copy;
}

std::optional<Expr> Coordinates::IsInside(const Scope& scope, const SparseBuffer& buffer, const Array<Expr>& indices,
                                          size_t d) const {
  if (scope.IsInRange(buffer, indices, d)) return std::nullopt;
  Expr index = Index(scope, indices[d]);
  return (Int64(0) <= index) && (index < Wide(buffer->axes[d]->length));
}

std::optional<Expr> Coordinates::RangeGuard(const Scope& scope, const SparseBuffer& buffer,
                                            const Array<Expr>& indices) const {
  std::optional<Expr> guard;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (IsDense(buffer->axes[d])) guard = Both(guard, IsInside(scope, buffer, indices, d));
  }
  return guard;
}

Array<Expr> Coordinates::Place(const Scope& scope, const SparseBuffer& buffer, const Array<Expr>& indices) const {
  Array<Expr> place;
  for (const StorageDim& dim : StorageLayout(buffer)) {
    const Axis& axis = buffer->axes[dim.last];
    if (IsDense(axis)) {
      place.push_back(Index(scope, indices[dim.last]));
    } else {
      place.push_back(IsVariable(axis) ? At(axis).absolute : At(axis).local);
    }
  }
  return place;
}

std::pair<Expr, Expr> Coordinates::RowRange(const Axis& axis, const std::optional<Located>& parent) const {
  auto indptr = IndptrOf(axis);
  Expr begin = Int64(0), end = Int64(0);
  if (indptr.has_value()) {
    begin = LoadIndex(indptr.value(), parent->absolute);
    end = LoadIndex(indptr.value(), parent->absolute + Int64(1));
  } else {
    Expr width = Extent(axis);
    begin = parent ? parent->absolute * width : Int64(0);
    end = begin + width;
  }
  if (!parent || !parent->exists) return {begin, end};
  return {IfThenElseExpr(*parent->exists, begin, Int64(0)), IfThenElseExpr(*parent->exists, end, Int64(0))};
}

Coordinates::Located Coordinates::LocateStored(const Scope& scope, const SparseBuffer& buffer,
                                               const Array<Expr>& indices, size_t d) const {
  const Axis& axis = buffer->axes[d];
  std::optional<Located> parent;
  if (auto above = ParentOf(axis); above.has_value()) {
    for (size_t p = 0; p < d; ++p) {
      if (buffer->axes[p].same_as(above.value())) parent = Locate(scope, buffer, indices, p);
    }
  }
  auto [begin, end] = RowRange(axis, parent);
  auto inside = IsInside(scope, buffer, indices, d);
  Expr coordinate = Index(scope, indices[d]);
  auto array = IndicesOf(axis);
  if (!array.has_value()) {  // ragged: a range check
    Expr stored = (Int64(0) <= coordinate) && (coordinate < end - begin);
    return {coordinate, begin + coordinate, Both(inside, stored)};
  }
  if (searches_ == nullptr) {
    Refuse({"ST421", scope.innermost().name,
            Text(buffer->buffer, indices) + " searches " + Quoted(axis) + " in a start value",
            "start values without searches", "compute it in an iteration of its own before this one",
            buffer->buffer.span()});
  }
  Expr position = searches_->Find({axis, storage_->Of(array.value()), begin, end}, coordinate);
  return {position - begin, position, Both(inside, Int64(0) <= position)};
}

Coordinates::Located Coordinates::Locate(const Scope& scope, const SparseBuffer& buffer, const Array<Expr>& indices,
                                         size_t d) const {
  const Axis& axis = buffer->axes[d];
  if (IsDense(axis)) {
    Expr index = Index(scope, indices[d]);
    return {index, index, IsInside(scope, buffer, indices, d)};
  }
  if (!scope.IsOwnPosition(buffer, indices, d)) return LocateStored(scope, buffer, indices, d);
  return {At(axis).local, At(axis).absolute, std::nullopt};
}

Expr Coordinates::LoadValue(const Scope& scope, const TensorLoad& load) const {
  SparseBuffer buffer = scope.BufferOf(load.source()).value();
  Array<Expr> place;
  std::optional<Expr> exists;
  for (const StorageDim& dim : StorageLayout(buffer)) {
    Located at = Locate(scope, buffer, load.indices(), dim.last);
    place.push_back(IsPadded(buffer->axes[dim.last]) ? at.local : at.absolute);
    exists = Both(exists, at.exists);
  }
  Expr value = Load(storage_->Of(buffer->buffer), place);
  return exists ? IfThenElseExpr(*exists, value, buffer->default_value) : value;
}

Expr Coordinates::Value(const Scope& scope, const Expr& e) const {
  return ffi::StructuralMutate(
             e,
             [&](const Var& v, ffi::StructuralMutatorObj*) -> ffi::Expected<Any> {
               auto it = coordinates_.find(v.get());
               return it == coordinates_.end() ? Any(ffi::Unchanged()) : Any(CastTo(it->second, DTypeOf(v)));
             },
             [&](const TensorLoad& n, ffi::StructuralMutatorObj*) -> ffi::Expected<Any> {
               return Any(LoadValue(scope, n));
             })
      .template cast<Expr>();
}
}  // namespace lower_sparse_iter
}  // namespace sparse_tir
