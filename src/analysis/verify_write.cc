// Laws 1, 3 and 9: which element a statement writes, and who else writes it.
#include "one_to_one.h"
#include "verifier.h"

namespace sparse_tir {
namespace verifier {
using namespace tir;

namespace {
struct Write {
  const Scope& scope;
  BufferStore store;
  SparseBuffer buffer;

  std::string Name() const { return scope.innermost().name; }
  std::string Element() const { return Text(buffer->buffer, store.indices()); }
};

void CheckStoredAxis(const Write& w, size_t d) {  // law 3
  const Axis& axis = w.buffer->axes[d];
  if (!w.scope.IsOwnPosition(w.buffer, w.store.indices(), d)) {
    Refuse({"ST403", w.Name(),
            w.Element() + ", where " + Text(w.store.indices()[d]) + " is not the iterator of " + Quoted(axis),
            "the iterator of " + Quoted(axis) + " itself, under its own parent",
            "most coordinates have no position; iterate over " + Quoted(axis), w.store.span()});
  }
}

void CheckNoReductionSelects(const Write& w) {  // law 3
  for (size_t d = 0; d < w.store.indices().size(); ++d) {
    auto it = w.scope.IteratorIs(w.store.indices()[d]);
    bool selects = IsStored(w.buffer->axes[d]);
    for (const Axis& a : w.buffer->axes) selects |= IsStored(a) && IsAncestor(w.buffer->axes[d], a);
    if (it && it->is_reduction && selects) {
      Refuse({"ST404", w.Name(), w.Element() + ", where the position of R " + Quoted(it->axis) + " selects",
              "what selects a stored element is spatial", "list " + Quoted(it->axis) + " as S", w.store.span()});
    }
  }
}

void CheckDenseAxis(const Write& w, size_t d) {  // laws 1 and 3
  const Expr& index = w.store.indices()[d];
  for (const SparseIterator& it : w.scope.All()) {
    if (!it.is_reduction && !it.axis->unique && Mentions(index, {it.var.get()})) {
      Refuse({"ST401", w.Name(), w.Element() + ", where " + Quoted(it.axis) + " may hold a coordinate twice",
              "R for " + Quoted(it.axis) + " (a scatter reduction)", "", w.store.span()});
    }
  }
  if (w.scope.IsOutOfRange(w.buffer, w.store.indices(), d)) {
    Refuse({"ST405", w.Name(), w.Element() + ", always outside of " + Quoted(w.buffer->axes[d]),
            "a coordinate in [0, " + Text(w.buffer->axes[d]->length) + ")", "", w.store.span()});
  }
}

void CheckOneWriter(const Write& w) {  // law 9
  VarSet determined = Determined(w.store.indices(), Ranged(w.scope.All()));
  for (const SparseIterator& it : w.scope.All()) {
    if (it.is_reduction || determined.count(it.var.get())) continue;
    Refuse({"ST408", w.Name(), "different positions of spatial " + Quoted(it.axis) + " write the same " + w.Element(),
            "subscripts that determine " + NameOf(it) + "", "list " + Quoted(it.axis) + " as R and write a fold",
            w.store.span()});
  }
}

void CheckFold(const Write& w) {  // law 9
  if (!HasReduction(w.scope.All()) || MatchFold(w.store)) return;
  std::string y = w.Element();
  Refuse({"ST409", w.Name(), y + " = " + Text(w.store.value()),
          y + " = " + y + " + v, " + y + " * v, T.max(" + y + ", v) or T.min(" + y + ", v), with v free of " +
              std::string(w.buffer->buffer.name()),
          "", w.store.span()});
}
}  // namespace

void CheckWrite(const Scope& scope, const BufferStore& store) {
  auto buffer = scope.BufferOf(store.buffer());
  if (!buffer) {
    Refuse({"ST411", scope.innermost().name, "a write to " + Text(store.buffer()), "writes to sparse buffers", "",
            store.span()});
  }
  CheckSubscripts(scope, store.buffer(), store.indices(), store.span());
  Write w{scope, store, *buffer};
  for (size_t d = 0; d < store.indices().size(); ++d) {
    if (IsStored((*buffer)->axes[d])) CheckStoredAxis(w, d);
  }
  CheckNoReductionSelects(w);
  for (size_t d = 0; d < store.indices().size(); ++d) {
    if (IsDense((*buffer)->axes[d])) CheckDenseAxis(w, d);
  }
  CheckOneWriter(w);
  CheckFold(w);
}
}  // namespace verifier
}  // namespace sparse_tir
