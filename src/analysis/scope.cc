#include "scope.h"

namespace sparse_tir {
using namespace tir;

Scope Scope::Enter(const SparseIteration& iteration) const {
  Scope inner = *this;
  inner.stack_.push_back(iteration);
  return inner;
}

std::vector<SparseIterator> Scope::All() const {
  std::vector<SparseIterator> all;
  for (const SparseIteration& it : stack_) all.insert(all.end(), it.iterators.begin(), it.iterators.end());
  return all;
}

std::vector<SparseIterator> Scope::Enclosing() const {
  std::vector<SparseIterator> all = All();
  all.resize(all.size() - Own().size());
  return all;
}

std::optional<SparseIterator> Scope::IteratorIs(const Expr& e) const {
  for (const SparseIterator& it : All()) {
    if (it.var.same_as(e)) return it;
  }
  return std::nullopt;
}

std::optional<SparseIterator> Scope::IteratorOf(const Axis& axis) const {
  for (const SparseIterator& it : All()) {
    if (it.axis.same_as(axis)) return it;
  }
  return std::nullopt;
}

std::optional<SparseBuffer> Scope::BufferOf(const Expr& variable) const {
  for (const SparseBuffer& b : innermost().buffers) {
    if (b->buffer.same_as(variable)) return b;
  }
  return std::nullopt;
}

bool Scope::IsOwnPosition(const SparseBuffer& buffer, const Array<Expr>& indices, size_t d) const {
  auto it = IteratorIs(indices[d]);
  if (!it || !it->axis.same_as(buffer->axes[d])) return false;
  Optional<Axis> parent = ParentOf(buffer->axes[d]);
  if (!parent.has_value()) return true;
  for (size_t p = 0; p < d; ++p) {
    if (buffer->axes[p].same_as(parent.value())) return IsOwnPosition(buffer, indices, p);
  }
  return false;
}

Analyzer Scope::BoundIterators() const {
  Analyzer analyzer;
  for (const SparseIterator& it : All()) {
    Expr length = CastTo(it.axis->length, DTypeOf(it.var));
    analyzer.Bind(it.var, MakeRange(IntLit(0, it.var.ty()), length));
  }
  return analyzer;
}

bool Scope::IsInRange(const SparseBuffer& buffer, const Array<Expr>& indices, size_t d) const {
  const Expr& length = buffer->axes[d]->length;
  auto it = IteratorIs(indices[d]);
  if (it && SameExpr(it->axis->length, length)) return true;
  Analyzer analyzer = BoundIterators();
  return analyzer.CanProve(IntLit(0, indices[d].ty()) <= indices[d]) && analyzer.CanProve(indices[d] < length);
}

bool Scope::IsOutOfRange(const SparseBuffer& buffer, const Array<Expr>& indices, size_t d) const {
  Analyzer analyzer = BoundIterators();
  return analyzer.CanProve(indices[d] < IntLit(0, indices[d].ty())) ||
         analyzer.CanProve(buffer->axes[d]->length <= indices[d]);
}

bool HasReduction(const std::vector<SparseIterator>& iterators) {
  for (const SparseIterator& it : iterators) {
    if (it.is_reduction) return true;
  }
  return false;
}
}  // namespace sparse_tir
