#include "scope.h"

#include "index.h"

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

Scope::Bounds Scope::BoundsOf(const SparseBuffer& buffer, const Array<Expr>& indices, size_t d) const {
  Bounds bounds;
  VarMap twins;  // iterators in int64
  auto leaf = [&](const Expr& e) -> Expr {
    if (auto it = twins.find(e.get()); it != twins.end()) return it->second;
    if (e.as<Var>()) return CastTo(e, DLDataType{kDLInt, 64, 1});  // a scalar parameter
    return MakeVar("unknown", Int(64));                            // data, and whatever may wrap
  };
  for (const SparseIterator& it : All()) {
    Var twin = MakeVar(it.var.name(), Int(64));
    twins.emplace(it.var.get(), twin);
    bounds.analyzer.Bind(twin, MakeRange(Int64(0), WidenIndex(it.axis->length, leaf)));
  }
  bounds.index = WidenIndex(indices[d], leaf);
  bounds.length = WidenIndex(buffer->axes[d]->length, leaf);
  return bounds;
}

bool Scope::IsInRange(const SparseBuffer& buffer, const Array<Expr>& indices, size_t d) const {
  auto it = IteratorIs(indices[d]);
  if (it && SameExpr(it->axis->length, buffer->axes[d]->length)) return true;
  Bounds b = BoundsOf(buffer, indices, d);
  return b.analyzer.CanProve(Int64(0) <= b.index) && b.analyzer.CanProve(b.index < b.length);
}

bool Scope::IsOutOfRange(const SparseBuffer& buffer, const Array<Expr>& indices, size_t d) const {
  Bounds b = BoundsOf(buffer, indices, d);
  return b.analyzer.CanProve(b.index < Int64(0)) || b.analyzer.CanProve(b.length <= b.index);
}

std::string NameOf(const SparseIterator& iterator) {
  std::string name = iterator.var.name();
  return name.empty() ? "the iterator of " + Quoted(iterator.axis) : "`" + name + "`";
}

bool HasReduction(const std::vector<SparseIterator>& iterators) {
  for (const SparseIterator& it : iterators) {
    if (it.is_reduction) return true;
  }
  return false;
}
}  // namespace sparse_tir
