// ExpandCombine: a store that stands for an accumulation becomes real.
//
// \pre stage "position", after PlaceInit. \post no stage: ordinary loops and blocks.
//
// A block annotated {"sparse_tir.combine": "sum" | "prod" | "max" | "min"} has one store C[..] = v. TVM's schedule
// takes it for a plain store, so that loops around it can be bound, parallelised and vectorised; it does not see that
// C is read. So the check that it would make is made here: a concurrent loop around the block must drive iterators of
// the block, and only such that different values reach different elements (the block owns them). Ownership is read off
// the subscripts, and off "sparse_tir.owned", which names injective index arrays.
#include "../analysis/fold.h"
#include "../analysis/one_to_one.h"
#include "nest.h"
#include "pass.h"

namespace sparse_tir {
namespace {
using namespace tir;

constexpr const char* kKindNames[] = {"serial", "parallel", "vectorized", "unrolled", "thread-bound"};

bool IsConcurrent(const For& loop) { return loop.kind() != kSerial && loop.kind() != kUnrolled; }

// An index read from an injective array stands for the place it is read from.
Expr ThroughInjectiveArray(const Expr& index, const std::vector<std::string>& injective) {
  if (auto cast = index.as<Cast>()) return ThroughInjectiveArray(cast.value().value(), injective);
  auto load = index.as<TensorLoad>();
  if (!load || load.value().indices().size() != 1) return index;
  std::string name = load.value().source().as<Var>().value().name();
  for (const std::string& array : injective) {
    if (array == name) return load.value().indices()[0];
  }
  return index;
}

VarSet OwnedIterators(const SBlock& block, const BufferStore& store, const Nest& whole) {
  std::vector<std::string> injective;
  if (auto found = block.annotations().Get(names::kOwned); found.has_value()) {
    for (const String& name : found.value().cast<Array<String>>()) injective.push_back(name);
  }
  Array<Expr> indices;
  for (const Expr& index : store.indices()) indices.push_back(ThroughInjectiveArray(index, injective));
  std::vector<RangedVar> iterators;
  for (const BoundIterator& it : BoundIterators(whole)) {
    iterators.push_back({it.iter_var.var(), it.iter_var.dom().extent()});
  }
  return Determined(indices, iterators);
}

// Concurrent loops around the block that may reach one element in several iterations.
std::vector<For> SharedLoops(const SBlockRealize& realize, const BufferStore& store, const Nest& around) {
  Nest whole = around;
  whole.push_back(realize);
  VarSet owned = OwnedIterators(realize.block(), store, whole);
  std::vector<For> shared;
  for (size_t d = ScopeDepth(around, store.buffer()); d < around.size(); ++d) {
    auto loop = around[d].as<For>();
    if (!loop || !IsConcurrent(loop.value())) continue;
    bool drives = false, owns = true;
    for (const BoundIterator& it : BoundIterators(whole)) {
      if (!Mentions(it.value, {loop.value().loop_var().get()})) continue;
      drives = true;
      owns = owns && owned.count(it.iter_var.var().get());
    }
    if (!drives || !owns) shared.push_back(loop.value());
  }
  return shared;
}

void RefuseShared(const SBlock& block, const BufferStore& store, const std::vector<For>& shared) {
  std::string loops;
  for (const For& loop : shared) {
    loops += (loops.empty() ? "" : ", ") + std::string(kKindNames[loop.kind()]) + " loop `" +
             std::string(loop.loop_var().name()) + "`";
  }
  Refuse({"ST423", "block `" + std::string(block.name_hint()) + "`",
          "iterations of " + loops + " may accumulate into one element of " + std::string(store.buffer().name()),
          "concurrent loops over elements that the block owns",
          "keep these loops serial, or name an injective index array in the annotation sparse_tir.owned",
          block.span()});
}

bool IsScratch(const SBlock& block, const Var& buffer) {  // such as the scalars of a search
  for (const Var& b : block.alloc_buffers()) {
    if (b.same_as(buffer)) return true;
  }
  return false;
}

// What the block accumulates.
std::vector<BufferStore> StoresIn(const SBlock& block) {
  std::vector<BufferStore> stores;
  for (const BufferStore& s : Collect<BufferStore>(block.body())) {
    if (!IsScratch(block, s.buffer())) stores.push_back(s);
  }
  return stores;
}

Stmt ExpandBlock(const SBlockRealize& realize, const Nest& around) {
  SBlock block = realize.block();
  Map<String, Any> annotations = block.annotations();
  auto combiner = annotations.Get(names::kCombine);
  if (!combiner.has_value()) return realize;
  std::vector<BufferStore> stores = StoresIn(block);
  if (stores.size() != 1) Bug("combine block `" + std::string(block.name_hint()) + "` has not one store");
  std::vector<For> shared = SharedLoops(realize, stores[0], around);
  if (!shared.empty()) RefuseShared(block, stores[0], shared);
  std::string op = combiner.value().cast<String>();
  Stmt body =
      ffi::StructuralMutate(block.body(), [&](const BufferStore& s, ffi::StructuralMutatorObj*) -> ffi::Expected<Any> {
        if (IsScratch(block, s.buffer())) return Any(s);
        Expr old = Load(s.buffer(), s.indices());
        return Any(Store(s.buffer(), Combine(op, old, s.value()), s.indices()));
      }).template cast<Stmt>();
  annotations.erase(names::kCombine);
  annotations.erase(names::kOwned);
  BlockChange change;
  change.body = body;
  change.reads = ReadsAndWrites(block);
  change.annotations = annotations;
  return WithBlock(realize, change);
}

// A combine store into a cache would take the contributions and then overwrite the output.
Stmt RefuseCached(const SBlockRealize& realize, const Nest& around, const VarSet& params) {
  SBlock block = realize.block();
  if (!block.annotations().count(names::kCombine)) return realize;
  for (const BufferStore& store : StoresIn(block)) {
    if (params.count(store.buffer().get())) continue;
    Refuse({"ST422", "block `" + std::string(block.name_hint()) + "`",
            "an accumulation into the cache " + std::string(store.buffer().name()), "an accumulation into the output",
            "do not apply cache_write to a block that accumulates into existing elements", block.span()});
  }
  return realize;
}

PrimFunc ExpandCombine(const PrimFunc& f) {
  RequireStage(f, "ExpandCombine", names::kPositionStage);
  VarSet params;
  for (const Var& p : f.params()) params.insert(p.get());
  PrimFunc checked = RewriteNests(
      f, [&](const SBlockRealize& r, const Nest& around) { return RefuseCached(r, around, params); }, KeepLoop);
  return WithoutAttr(RewriteNests(checked, ExpandBlock, KeepLoop), names::kStage);
}
}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() { RegisterPass("ExpandCombine", ExpandCombine); }
}  // namespace sparse_tir
