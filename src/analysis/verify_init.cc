// Law 4: what an init starts.
#include "one_to_one.h"
#include "verifier.h"

namespace sparse_tir {
namespace verifier {
using namespace tir;

namespace {
bool IsOneElement(const BufferStore& a, const BufferStore& b) {
  return a.buffer().same_as(b.buffer()) && SameIndices(a.indices(), b.indices());
}

void CheckEnclosingSelect(const Scope& scope, const BufferStore& start) {
  VarSet determined = Determined(start.indices(), Ranged(scope.All()));
  for (const SparseIterator& it : scope.Enclosing()) {
    if (determined.count(it.var.get())) continue;
    Refuse({"ST406", scope.innermost().name,
            "init of " + Text(start.buffer(), start.indices()) + " under `" + std::string(it.var.name()) +
                "`, which does not select it",
            "subscripts that contain every iterator of the enclosing iterations",
            "it would erase earlier contributions; move the init to an iteration of its own", start.span()});
  }
}

void CheckStartValue(const Scope& scope, const BufferStore& start, const std::vector<BufferStore>& body) {
  CheckReads(scope, start.value());
  VarSet allowed = VarsIn(start.indices()), written;
  for (const BufferStore& store : body) written.insert(store.buffer().get());
  for (const SparseIterator& it : scope.Own()) {
    if (allowed.count(it.var.get()) || !Mentions(start.value(), {it.var.get()})) continue;
    Refuse({"ST407", scope.innermost().name,
            "a start value that depends on " + NameOf(it) + ", which does not select the element",
            "a value that the element determines", "", start.span()});
  }
  if (Mentions(start.value(), written)) {
    Refuse({"ST410", scope.innermost().name, "a start value that reads what the iteration writes",
            "a value free of written buffers", "", start.span()});
  }
}
}  // namespace

void CheckInit(const Scope& scope, const std::vector<BufferStore>& body) {
  const SparseIteration& iteration = scope.innermost();
  if (!iteration.init.has_value()) return;
  std::vector<BufferStore> starts;
  for (const Stmt& s : Statements(iteration.init.value())) {
    auto start = s.as<BufferStore>();
    if (!start) {
      Refuse({"ST208", iteration.name, "an init with " + Text(s), "assignments to buffers", "", s.span()});
    }
    int matches = 0;
    for (const BufferStore& store : body) {
      matches += IsOneElement(store, start.value());
    }
    if (matches != 1) {
      std::string written;
      for (const BufferStore& store : body) {
        written += (written.empty() ? "" : ", ") + Text(store.buffer(), store.indices());
      }
      Refuse({"ST407", iteration.name, "init of " + Text(start.value().buffer(), start.value().indices()),
              "the element that one statement of the body writes: " + written, "", start.value().span()});
    }
    for (const BufferStore& other : starts) {
      if (!IsOneElement(other, start.value())) continue;
      Refuse({"ST407", iteration.name, Text(other.buffer(), other.indices()) + " started twice", "one start", "",
              start.value().span()});
    }
    starts.push_back(start.value());
    CheckEnclosingSelect(scope, start.value());
    CheckStartValue(scope, start.value(), body);
  }
}
}  // namespace verifier
}  // namespace sparse_tir
