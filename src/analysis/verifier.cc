#include "verifier.h"

namespace sparse_tir {
using namespace tir;

namespace verifier {
void CheckHeader(const Scope& scope) {
  const SparseIteration& iteration = scope.innermost();
  const auto& own = scope.Own();
  for (size_t i = 0; i < own.size(); ++i) {
    const Axis& axis = own[i].axis;
    Scope around;
    for (size_t k = 0; k + 1 < scope.depth(); ++k) around = around.Enter(scope.stack()[k]);
    bool twice = !around.empty() && around.IteratorOf(axis).has_value();
    for (size_t k = 0; k < i; ++k) twice |= own[k].axis.same_as(axis);
    if (twice) {
      Refuse({"ST206", iteration.name, Quoted(axis) + " twice", "every axis once, enclosing iterations included", "",
              iteration.span});
    }
    Optional<Axis> parent = ParentOf(axis);
    if (!parent.has_value()) continue;
    bool listed = !around.empty() && around.IteratorOf(parent.value()).has_value();
    for (size_t k = 0; k < i; ++k) listed |= own[k].axis.same_as(parent.value());
    if (!listed) {
      Refuse({"ST207", iteration.name, Quoted(axis) + " without its parent " + Quoted(parent.value()) + " before it",
              "parents before children", "list " + Quoted(parent.value()) + " here or in an enclosing iteration",
              iteration.span});
    }
  }
}
}  // namespace verifier

namespace {
std::vector<BufferStore> OwnStores(const Scope& scope, const Stmt& body, bool nested_allowed) {
  std::vector<BufferStore> stores;
  for (const Stmt& s : Statements(body)) {
    if (auto store = s.as<BufferStore>()) {
      stores.push_back(store.value());
      continue;
    }
    auto realize = s.as<SBlockRealize>();
    if (nested_allowed && realize && IterationOf(realize.value())) continue;
    Optional<Span> span = s.span();
    Refuse({"ST208", scope.innermost().name, Text(s),
            nested_allowed ? "assignments to buffers and nested iterations" : "assignments to buffers", "",
            span.has_value() ? span : scope.innermost().span});
  }
  return stores;
}

// What TVM's own script may add to the block of an iteration means nothing here, and lowering would drop it.
void CheckCarrier(const SBlockRealize& realize) {
  SBlock block = realize.block();
  std::string extra;
  auto predicate = realize.predicate().as<IntImm>();
  if (!predicate || predicate.value().value() != 1) extra = "a condition (T.where)";
  if (!block.alloc_buffers().empty()) extra = "an allocation";
  if (!block.match_buffers().empty()) extra = "a buffer match";
  for (const auto& [key, value] : block.annotations()) {
    if (key != names::kAxes && key != names::kBuffers) extra = "an annotation `" + std::string(key) + "`";
  }
  if (extra.empty()) return;
  Refuse({"ST208", block.name_hint(), extra, "assignments to buffers and nested iterations",
          "T.if_then_else and T.Select are conditions of values", realize.span()});
}

void VerifyIteration(const Scope& around, const SBlockRealize& realize) {
  CheckCarrier(realize);
  SparseIteration iteration = IterationOf(realize).value();
  Scope scope = around.Enter(iteration);
  verifier::CheckHeader(scope);
  std::vector<BufferStore> stores = OwnStores(scope, iteration.body, true);
  verifier::CheckInit(scope, stores);
  for (const BufferStore& store : stores) {
    verifier::CheckReads(scope, store.value());
    for (const Expr& e : store.indices()) verifier::CheckReads(scope, e);
    verifier::CheckWrite(scope, store);
  }
  for (const Stmt& s : Statements(iteration.body)) {
    if (auto realize = s.as<SBlockRealize>()) VerifyIteration(scope, realize.value());
  }
  if (!around.empty()) return;
  verifier::CheckOrder(scope);
  verifier::CheckWriters(scope);
}
}  // namespace

void Verify(const PrimFunc& func) {
  auto stage = GetAttr(func, names::kStage);
  if (!stage.has_value() || stage.value().cast<String>() != names::kCoordinateStage) {
    Refuse({"ST420", "verify",
            stage.has_value() ? "stage \"" + std::string(stage.value().cast<String>()) + "\""
                              : std::string("a function without a stage"),
            "stage \"coordinate\"", "", std::nullopt});
  }
  for (const Stmt& s : OutermostStatements(func)) {
    auto realize = s.as<SBlockRealize>();
    if (!realize || !IterationOf(realize.value())) {
      Refuse({"ST208", "function", Text(s) + " outside of an iteration", "sparse iterations", "", s.span()});
    }
    VerifyIteration(Scope(), realize.value());
  }
}

TVM_FFI_STATIC_INIT_BLOCK() { refl::GlobalDef().def("sparse_tir.analysis.verify", Verify); }
}  // namespace sparse_tir
