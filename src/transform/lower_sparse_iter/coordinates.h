// From coordinates to positions: what each iterator, subscript and load becomes.
#pragma once
#include "../../analysis/scope.h"
#include "search.h"

namespace sparse_tir {
namespace lower_sparse_iter {
// The value array of each sparse buffer, and the structure arrays, as the lowered function takes them.
class Storage {
 public:
  explicit Storage(const tir::PrimFunc& func);
  tir::Var Of(const tir::Var& parameter) const { return physical_.at(parameter.get()); }
  // [parameter, physical] pairs, in parameter order.
  Array<Array<tir::Var>> Pairs() const { return pairs_; }

 private:
  void Add(const tir::Var& parameter, const Array<tir::Expr>& shape);
  std::unordered_map<Identity, tir::Var> physical_;
  Array<Array<tir::Var>> pairs_;
};

// Where the iterators stand. All positions and coordinates are int64, whatever the dtype of the axes: addresses cannot
// overflow and axes of different widths mix. Copying it opens a scope.
class Coordinates {
 public:
  explicit Coordinates(const Storage& storage) : storage_(&storage) {}

  // How many positions the axis has under the current position of its parent.
  tir::Expr Extent(const Axis& axis) const;
  // `position` counts from the first one under the current parent.
  void Enter(const SparseIterator& iterator, const tir::Var& position);
  // For a padded axis that has been entered: the slot is not padding.
  tir::Expr IsNotPadding(const Axis& axis) const;

  // The same, for one statement; what it reads by coordinate is searched in `searches`. Without them a read that needs
  // a search is refused (ST421).
  Coordinates WithSearches(Searches* searches) const;

  // An expression of the body. Loads of what may not be stored, or be out of range, give the default of the buffer.
  tir::Expr Value(const Scope& scope, const tir::Expr& e) const;
  // The place in the value array that a statement writes: subscripts are own positions or coordinates of dense axes.
  Array<tir::Expr> Place(const Scope& scope, const SparseBuffer& buffer, const Array<tir::Expr>& indices) const;
  // What must hold for the subscripts to be in range; nullopt if that is proven.
  std::optional<tir::Expr> RangeGuard(const Scope& scope, const SparseBuffer& buffer,
                                      const Array<tir::Expr>& indices) const;
  const Storage& storage() const { return *storage_; }

 private:
  struct Point {
    tir::Expr local;     // position under the parent
    tir::Expr absolute;  // position on the axis
  };
  // Where a subscript leads: positions that mean something if `exists` holds; nullopt if it always does.
  struct Located {
    tir::Expr local, absolute;
    std::optional<tir::Expr> exists;
  };
  Located Locate(const Scope& scope, const SparseBuffer& buffer, const Array<tir::Expr>& indices, size_t d) const;
  Located LocateStored(const Scope& scope, const SparseBuffer& buffer, const Array<tir::Expr>& indices, size_t d) const;
  // Positions [first, second) of an axis under a position of its parent; empty if that does not exist.
  std::pair<tir::Expr, tir::Expr> RowRange(const Axis& axis, const std::optional<Located>& parent) const;
  std::optional<tir::Expr> IsInside(const Scope& scope, const SparseBuffer& buffer, const Array<tir::Expr>& indices,
                                    size_t d) const;
  const Point& At(const Axis& axis) const;
  tir::Expr LoadIndex(const tir::Var& array, const tir::Expr& place) const;
  // An integer subscript, in int64.
  tir::Expr Index(const Scope& scope, const tir::Expr& e) const;
  tir::Expr LoadValue(const Scope& scope, const tir::TensorLoad& load) const;

  const Storage* storage_;
  Searches* searches_ = nullptr;
  std::unordered_map<Identity, Point> points_;  // by axis
  VarMap coordinates_;                          // by iterator
};
}  // namespace lower_sparse_iter
}  // namespace sparse_tir
