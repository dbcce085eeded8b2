#include "nest.h"

namespace sparse_tir {
using namespace tir;

std::vector<BoundIterator> BoundIterators(const Nest& nest) {
  std::vector<BoundIterator> out;
  VarMap values;
  for (const ObjectRef& node : nest) {
    auto realize = node.as<SBlockRealize>();
    if (!realize) continue;
    Array<IterVar> iter_vars = realize.value().block().iter_vars();
    Array<Expr> bound = realize.value().iter_values();
    for (size_t i = 0; i < iter_vars.size(); ++i) {
      Expr value = Substitute(bound[i], values);
      values[iter_vars[i].var().get()] = value;
      out.push_back({iter_vars[i], value});
    }
  }
  return out;
}

VarMap Bindings(const Nest& nest) {
  VarMap values;
  for (const BoundIterator& it : BoundIterators(nest)) values[it.iter_var.var().get()] = it.value;
  return values;
}

VarSet ReducingVars(const std::vector<BoundIterator>& iterators) {
  VarSet out;
  for (const BoundIterator& it : iterators) {
    if (it.iter_var.iter_type() != kCommReduce) continue;
    VarSet vars = VarsIn(it.value);
    out.insert(vars.begin(), vars.end());
  }
  return out;
}

size_t ScopeDepth(const Nest& nest, const Var& buffer) {
  for (size_t d = 0; d < nest.size(); ++d) {
    auto realize = nest[d].as<SBlockRealize>();
    if (!realize) continue;
    for (const Var& b : realize.value().block().alloc_buffers()) {
      if (b.same_as(buffer)) return d + 1;
    }
  }
  return 0;
}

PrimFunc RewriteNests(const PrimFunc& func, const OnRealize& on_realize, const OnLoop& on_loop) {
  Nest stack;
  auto descend = [&stack](const auto& node, ffi::StructuralMutatorObj* mutator,
                          const auto& hook) -> ffi::Expected<Any> {
    using Node = std::decay_t<decltype(node)>;
    stack.push_back(node);
    ffi::Expected<Any> result = MutateDefault(node, mutator);
    stack.pop_back();
    if (result.is_err()) return result;
    return Any(hook(std::move(result).value().template cast<Node>(), stack));
  };
  Stmt body = ffi::StructuralMutate(
                  func.body(), [&](const For& n, ffi::StructuralMutatorObj* m) { return descend(n, m, on_loop); },
                  [&](const SBlockRealize& n, ffi::StructuralMutatorObj* m) { return descend(n, m, on_realize); })
                  .template cast<Stmt>();
  return WithBody(func, body);
}

Stmt WithBlock(const SBlockRealize& realize, const BlockChange& change) {
  return MakeRealize(realize.iter_values(), realize.predicate(), CopyBlock(realize.block(), change));
}

Array<TensorRegion> ReadsAndWrites(const SBlock& block) {
  Array<TensorRegion> regions = block.writes();
  for (const TensorRegion& r : block.reads()) regions.push_back(r);
  return regions;
}
}  // namespace sparse_tir
