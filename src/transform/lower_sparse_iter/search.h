// Positions that are found by coordinate (law 2).
#pragma once
#include <optional>
#include <vector>

#include "../../ir/axis.h"
#include "../../tvm_view/visit.h"

namespace sparse_tir {
namespace lower_sparse_iter {
// A row to search: the positions [begin, end) of `indices`.
struct SearchRange {
  Axis axis;
  tir::Var indices;  // the physical array
  tir::Expr begin;
  tir::Expr end;
};

// The searches of one statement. They run before it, inside of its block; equal ones are shared.
//
// A sorted row is searched by bisection, an unsorted one from its first entry to its last.
class Searches {
 public:
  // An expression for the position of `coordinate`, -1 if it is not stored.
  tir::Expr Find(const SearchRange& range, const tir::Expr& coordinate);
  // The value, computed once; equal ones are shared.
  tir::Expr Hold(const tir::Expr& value);

  bool empty() const { return scalars_.empty(); }
  // Local scalars, to be allocated by the block; and the loops that fill them.
  const Array<tir::Var>& scalars() const { return scalars_; }
  tir::Stmt Before(const tir::Stmt& statement) const;

 private:
  struct Known {
    Axis axis;
    tir::Expr begin, coordinate, position;
  };
  tir::Var Scalar(const char* name);
  void Bisect(const SearchRange& range, const tir::Var& key, const tir::Var& found);
  void Scan(const SearchRange& range, const tir::Var& key, const tir::Var& found);

  std::vector<Known> found_;
  std::vector<std::pair<tir::Expr, tir::Expr>> held_;  // value, scalar
  Array<tir::Var> scalars_;
  Array<tir::Stmt> loops_;
};
}  // namespace lower_sparse_iter
}  // namespace sparse_tir
