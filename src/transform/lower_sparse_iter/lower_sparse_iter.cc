// LowerSparseIter: sparse iterations -> s_tir blocks over positions.
//
// \pre stage "coordinate". \post no carrier is left; bodies read and write physical arrays; the function still has its
// coordinate parameters and, in the attribute sparse_tir.storage, the pairs that LowerSparseBuffer replaces.
#include "../../analysis/verifier.h"
#include "../pass.h"
#include "emit.h"
#include "plan.h"

namespace sparse_tir {
namespace lower_sparse_iter {
using namespace tir;

namespace {
bool IsLeaf(const SparseIteration& iteration) {
  for (const Stmt& s : Statements(iteration.body)) {
    if (!s.as<BufferStore>()) return false;
  }
  return true;
}

void RefuseNarrowFold(const Scope& scope, const BufferStore& store) {  // law 7
  PrimType dtype = BufferTypeOf(store.buffer()).dtype();
  if (dtype.dtype().bits >= 32) return;
  Refuse({"ST421", scope.innermost().name, "a fold into " + std::string(store.buffer().name()) + " of a narrow dtype",
          "a buffer of float32, float64, int32 or int64", "the interpreter runs it (st.interpret)", store.span()});
}

// Padding contributes the identity to a reduction, and nothing is loaded through it.
Stmt ReduceStore(const Coordinates& at, const Scope& scope, const Plan& plan, const Array<Expr>& place,
                 const std::optional<Expr>& guard) {
  Var target = at.storage().Of(plan.store.buffer());
  Expr contribution = at.Value(scope, plan.fold->contribution);
  if (guard) {
    Expr identity = IdentityOf(plan.fold->combiner, BufferTypeOf(target).dtype());
    contribution = IfThenElseExpr(*guard, contribution, identity);
  }
  return Store(target, Combine(plan.fold->combiner, Load(target, place), contribution), place);
}

Stmt GuardedStore(const Coordinates& at, const Scope& scope, const SparseBuffer& buffer, const Plan& plan,
                  const Expr& value) {
  const Array<Expr>& indices = plan.store.indices();
  Stmt store = Store(at.storage().Of(buffer->buffer), value, at.Place(scope, buffer, indices));
  auto range = at.RangeGuard(scope, buffer, indices);
  return range ? MakeIf(*range, store) : store;
}

// With init and without a reduction, the element starts at init and folds once.
Expr StartedValue(const Plan& plan) {
  if (!plan.start || plan.form != Form::kStore) return plan.store.value();
  return ffi::StructuralMutate(plan.store.value(),
                               [&](const TensorLoad& n, ffi::StructuralMutatorObj* m) -> ffi::Expected<Any> {
                                 if (IsLoadOf(n, plan.store)) return Any(plan.start->value());
                                 return MutateDefault(n, m);
                               })
      .template cast<Expr>();
}

Payload MakeReduce(const Coordinates& around, const Scope& scope, const Plan& plan, const std::optional<Expr>& guard) {
  SparseBuffer buffer = scope.BufferOf(plan.store.buffer()).value();
  Searches searches;
  Coordinates at = around.WithSearches(&searches);
  Array<Expr> place = at.Place(scope, buffer, plan.store.indices());
  Stmt init = Store(at.storage().Of(buffer->buffer), around.Value(scope, plan.start->value()), place);
  Stmt body = searches.Before(ReduceStore(at, scope, plan, place, guard));
  return {init, body, {}, searches.scalars()};
}

Payload MakeLeaf(const Coordinates& around, const Scope& scope, const Plan& plan, const std::optional<Expr>& guard) {
  if (plan.form == Form::kReduce) return MakeReduce(around, scope, plan, guard);
  SparseBuffer buffer = scope.BufferOf(plan.store.buffer()).value();
  Searches searches;
  Coordinates at = around.WithSearches(&searches);
  Expr value = at.Value(scope, plan.form == Form::kCombine ? plan.fold->contribution : StartedValue(plan));
  Stmt body = GuardedStore(at, scope, buffer, plan, value);
  if (!searches.empty()) body = searches.Before(body);
  if (guard) body = MakeIf(*guard, body);
  Map<String, Any> annotations;
  if (plan.form == Form::kCombine) annotations.Set(names::kCombine, String(plan.fold->combiner));
  return {std::nullopt, body, annotations, searches.scalars()};
}

Stmt EmitCover(const Coordinates& around, const Scope& enclosing, const SparseIteration& cover, const Plan& plan) {
  Scope scope = enclosing.Enter(cover);
  Plan store{Form::kStore, plan.start.value(), std::nullopt, std::nullopt, false};
  return EmitLevels(cover, around, false, [&](const Coordinates& at, const std::optional<Expr>& guard) {
    Payload payload = MakeLeaf(at, scope, store, guard);
    payload.annotations.Set(names::kCover, String(plan.fold ? plan.fold->combiner : "store"));
    return payload;
  });
}

class IterationLowering {
 public:
  explicit IterationLowering(const Storage& storage) : storage_(storage) {}

  Stmt Run(const SparseIteration& iteration) const { return Lower(Scope(), iteration, Coordinates(storage_)); }

 private:
  Stmt Lower(const Scope& enclosing, const SparseIteration& iteration, const Coordinates& around) const {
    Scope scope = enclosing.Enter(iteration);
    Array<Stmt> seq;
    if (IsLeaf(iteration)) {
      // Statements do not read each other's elements (law 10): each gets a nest of its own.
      for (const Stmt& s : Statements(iteration.body)) {
        for (const Stmt& nest : LowerLeaf(enclosing, scope, s.as<BufferStore>().value(), around)) seq.push_back(nest);
      }
      return MakeSeq(seq);
    }
    if (iteration.init.has_value()) {
      Refuse({"ST421", iteration.name, "an init in an iteration that holds other iterations",
              "an init in an innermost iteration", "put the statement and its init into an iteration of their own",
              iteration.span});
    }
    return EmitLevels(iteration, around, false, [&](const Coordinates& at, const std::optional<Expr>& guard) {
      Stmt body = LowerBody(scope, iteration, at);
      return Payload{std::nullopt, guard ? MakeIf(*guard, body) : body, {}, {}};
    });
  }

  std::vector<Stmt> LowerLeaf(const Scope& enclosing, const Scope& scope, const BufferStore& store,
                              const Coordinates& around) const {
    Plan plan = MakePlan(scope, store);
    if (plan.fold) RefuseNarrowFold(scope, store);
    std::vector<Stmt> nests;
    if (plan.needs_cover) nests.push_back(EmitCover(around, enclosing, CoverIteration(scope, plan), plan));
    nests.push_back(EmitLevels(
        scope.innermost(), around, plan.form == Form::kReduce,
        [&](const Coordinates& at, const std::optional<Expr>& guard) { return MakeLeaf(at, scope, plan, guard); }));
    return nests;
  }

  // The body of an iteration that holds others: statements of its own become blocks without iterators.
  Stmt LowerBody(const Scope& scope, const SparseIteration& iteration, const Coordinates& at) const {
    Array<Stmt> seq;
    int number = 0;
    for (const Stmt& s : Statements(iteration.body)) {
      if (auto realize = s.as<SBlockRealize>()) {
        seq.push_back(Lower(scope, IterationOf(realize.value()).value(), at));
        continue;
      }
      Plan plan = MakePlan(scope, s.as<BufferStore>().value());
      if (plan.fold) RefuseNarrowFold(scope, plan.store);
      Payload leaf = MakeLeaf(at, scope, plan, std::nullopt);
      String name = std::string(iteration.name) + "_" + std::to_string(number++);
      seq.push_back(MakePayloadBlock(name, {}, {}, leaf));
    }
    return MakeSeq(seq);
  }

  const Storage& storage_;
};

void RefuseUnboundHandles(const PrimFunc& func) {
  for (const Var& p : func.params()) {
    if (p.ty().as<BufferType>() || p.ty().as<PrimType>()) continue;
    Refuse({"ST203", "parameter `" + std::string(p.name()) + "`", "a handle that no axis and no buffer uses",
            "S.match_sparse_buffer(" + std::string(p.name()) + ", ..)", "bind it, or leave it out", p.span()});
  }
}

PrimFunc LowerSparseIter(const PrimFunc& f) {
  RequireStage(f, "LowerSparseIter", names::kCoordinateStage);
  Verify(f);
  RefuseUnboundHandles(f);
  Storage storage(f);
  IterationLowering lowering(storage);
  Array<Stmt> seq;
  for (const Stmt& s : OutermostStatements(f)) {
    seq.push_back(lowering.Run(IterationOf(s.as<SBlockRealize>().value()).value()));
  }
  return WithAttr(WithBody(f, MakeSeq(seq)), names::kStorage, storage.Pairs());
}
}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() { RegisterPass("LowerSparseIter", LowerSparseIter); }
}  // namespace lower_sparse_iter
}  // namespace sparse_tir
