#include "plan.h"

namespace sparse_tir {
namespace lower_sparse_iter {
using namespace tir;

namespace {
std::optional<BufferStore> StartOf(const SparseIteration& iteration, const BufferStore& store) {
  if (!iteration.init.has_value()) return std::nullopt;
  for (const Stmt& s : Statements(iteration.init.value())) {
    auto start = s.as<BufferStore>().value();
    if (start.buffer().same_as(store.buffer()) && SameIndices(start.indices(), store.indices())) return start;
  }
  return std::nullopt;
}

bool IsWrittenByOwnPosition(const Scope& scope, const SparseBuffer& buffer, const BufferStore& store,
                            const Axis& axis) {
  for (size_t d = 0; d < store.indices().size(); ++d) {
    bool carries = buffer->axes[d].same_as(axis);  // the axis itself, or a parent of a stored axis of the buffer
    bool stored = IsStored(axis);
    for (const Axis& a : buffer->axes) stored |= IsStored(a) && IsAncestor(axis, a);
    if (carries && stored && scope.IsOwnPosition(buffer, store.indices(), d)) return true;
  }
  return false;
}

bool SelectsByCoordinate(const Scope& scope, const SparseBuffer& buffer, const BufferStore& store,
                         const SparseIterator& it) {
  return IsStored(it.axis) && Mentions(store.indices(), {it.var.get()}) &&
         !IsWrittenByOwnPosition(scope, buffer, store, it.axis);
}

bool AllInRange(const Scope& scope, const SparseBuffer& buffer, const BufferStore& store) {
  for (size_t d = 0; d < store.indices().size(); ++d) {
    if (IsDense(buffer->axes[d]) && !scope.IsInRange(buffer, store.indices(), d)) return false;
  }
  return true;
}

// PlaceInit will copy the loops of S iterators below the first R iterator: they must not depend on data.
bool InitCanBePlaced(const Scope& scope, const SparseBuffer& buffer, const BufferStore& store) {
  bool after_reduction = false;
  const auto& own = scope.Own();
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].is_reduction) {
      if (Mentions(store.indices(), {own[i].var.get()})) return false;  // a scatter reduction
      after_reduction = true;
    } else if (IsStored(own[i].axis) && after_reduction) {
      return false;
    }
  }
  // A padded S axis needs its guard outside of the reduction: in a block that ends before the first R iterator.
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].is_reduction || !IsPadded(own[i].axis)) continue;
    bool closes = false, reduces = false;
    for (size_t k = i + 1; k < own.size() && !closes; ++k) {
      closes = IsVariable(own[k].axis) && ParentOf(own[k].axis).value().same_as(own[i].axis);
      reduces |= !closes && own[k].is_reduction;
    }
    if (!closes || reduces) return false;
  }
  return AllInRange(scope, buffer, store);
}
}  // namespace

Plan MakePlan(const Scope& scope, const BufferStore& store) {
  SparseBuffer buffer = scope.BufferOf(store.buffer()).value();
  Plan plan{Form::kStore, store, std::nullopt, StartOf(scope.innermost(), store), false};
  bool own_reduction = HasReduction(scope.Own());
  if (own_reduction || HasReduction(scope.All())) {
    plan.fold = MatchFold(store);
    bool in_block = own_reduction && plan.start && InitCanBePlaced(scope, buffer, store);
    plan.form = in_block ? Form::kReduce : Form::kCombine;
  }
  if (plan.start) {
    plan.needs_cover = plan.form == Form::kCombine;
    for (const SparseIterator& it : scope.Own()) {
      plan.needs_cover |= SelectsByCoordinate(scope, buffer, store, it);
    }
  }
  return plan;
}

SparseIteration CoverIteration(const Scope& scope, const Plan& plan) {
  const SparseIteration& iteration = scope.innermost();
  SparseBuffer buffer = scope.BufferOf(plan.store.buffer()).value();
  SparseIteration cover{
      std::string(iteration.name) + "_init", {}, iteration.buffers, std::nullopt, plan.start.value(), iteration.span};
  for (const SparseIterator& it : iteration.iterators) {
    if (!Mentions(plan.store.indices(), {it.var.get()})) continue;
    Axis axis = it.axis;
    if (!IsWrittenByOwnPosition(scope, buffer, plan.store, axis)) {
      axis = Call<Axis>(ST_GLOBAL("sparse_tir.ir.DenseFixedAxis"), it.axis->name, it.axis->length, it.axis->idtype);
    }
    cover.iterators.push_back({it.var, axis, /*is_reduction=*/false});
  }
  return cover;
}
}  // namespace lower_sparse_iter
}  // namespace sparse_tir
