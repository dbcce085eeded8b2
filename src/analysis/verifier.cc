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
std::vector<BufferStore> StoresOf(const Scope& scope, const Stmt& body, bool nested_allowed) {
  std::vector<BufferStore> stores;
  for (const Stmt& s : Statements(body)) {
    if (auto store = s.as<BufferStore>()) {
      stores.push_back(store.value());
      continue;
    }
    auto realize = s.as<SBlockRealize>();
    if (nested_allowed && realize && IterationOf(realize.value())) continue;
    Refuse({"ST208", scope.innermost().name, "a statement `" + std::string(s->GetTypeKey()) + "`",
            nested_allowed ? "assignments to buffers and nested iterations" : "assignments to buffers", "", s.span()});
  }
  return stores;
}

void VerifyIteration(const Scope& around, const SparseIteration& iteration) {
  Scope scope = around.Enter(iteration);
  verifier::CheckHeader(scope);
  std::vector<BufferStore> stores = StoresOf(scope, iteration.body, true);
  verifier::CheckInit(scope, stores);
  for (const BufferStore& store : stores) {
    verifier::CheckReads(scope, store.value());
    for (const Expr& e : store.indices()) verifier::CheckReads(scope, e);
    verifier::CheckWrite(scope, store);
  }
  for (const Stmt& s : Statements(iteration.body)) {
    if (auto realize = s.as<SBlockRealize>()) VerifyIteration(scope, IterationOf(realize.value()).value());
  }
  if (around.empty()) verifier::CheckOrder(scope);
}
}  // namespace

void Verify(const PrimFunc& func) {
  auto stage = GetAttr(func, names::kStage);
  if (!stage.has_value() || stage.value().cast<String>() != names::kCoordinateStage) {
    Refuse({"ST420", "verify", stage.has_value() ? "stage \"" + std::string(stage.value().cast<String>()) + "\""
                                                 : std::string("a function without a stage"),
            "stage \"coordinate\"", "", std::nullopt});
  }
  for (const Stmt& s : OutermostStatements(func)) {
    auto realize = s.as<SBlockRealize>();
    auto iteration = realize ? IterationOf(realize.value()) : std::nullopt;
    if (!iteration) {
      Refuse({"ST208", "function", "a statement `" + std::string(s->GetTypeKey()) + "` outside of an iteration",
              "sparse iterations", "", s.span()});
    }
    VerifyIteration(Scope(), *iteration);
  }
}

TVM_FFI_STATIC_INIT_BLOCK() { refl::GlobalDef().def("sparse_tir.analysis.verify", Verify); }
}  // namespace sparse_tir
