// The iterators that a statement sees, and what its subscripts select.
#pragma once
#include <vector>

#include "../ir/diagnostics.h"
#include "../tvm_view/visit.h"

namespace sparse_tir {
// The iterations around a statement, outermost first.
class Scope {
 public:
  Scope Enter(const SparseIteration& iteration) const;
  bool empty() const { return stack_.empty(); }
  size_t depth() const { return stack_.size(); }
  const SparseIteration& innermost() const { return stack_.back(); }
  const std::vector<SparseIteration>& stack() const { return stack_; }

  // Iterators of all iterations, outermost first; of the innermost one; of those around it.
  std::vector<SparseIterator> All() const;
  const std::vector<SparseIterator>& Own() const { return stack_.back().iterators; }
  std::vector<SparseIterator> Enclosing() const;

  // The iterator that `e` is, if it is just one.
  std::optional<SparseIterator> IteratorIs(const tir::Expr& e) const;
  std::optional<SparseIterator> IteratorOf(const Axis& axis) const;
  std::optional<SparseBuffer> BufferOf(const tir::Expr& variable) const;

  // Law 2: subscript `d` is the iterator of that very axis, with matching parents; its position needs no search.
  bool IsOwnPosition(const SparseBuffer& buffer, const Array<tir::Expr>& indices, size_t d) const;
  // Proves that subscript `d` lies in the range of its axis; iterators range over their axes.
  bool IsInRange(const SparseBuffer& buffer, const Array<tir::Expr>& indices, size_t d) const;
  bool IsOutOfRange(const SparseBuffer& buffer, const Array<tir::Expr>& indices, size_t d) const;

 private:
  // What is known of a subscript and of the length of its axis, both in int64; iterators range over their axes.
  struct Bounds {
    Analyzer analyzer;
    tir::Expr index, length;
  };
  Bounds BoundsOf(const SparseBuffer& buffer, const Array<tir::Expr>& indices, size_t d) const;
  std::vector<SparseIteration> stack_;
};

// For messages: the name of an iterator, or of its axis if it has none.
std::string NameOf(const SparseIterator& iterator);
bool HasReduction(const std::vector<SparseIterator>& iterators);
}  // namespace sparse_tir
