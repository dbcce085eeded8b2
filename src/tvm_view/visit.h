// Small traversals that several passes share.
#pragma once
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "build.h"

namespace sparse_tir {
using Identity = const ffi::Object*;  // a variable, by identity
using VarSet = std::unordered_set<Identity>;
using VarMap = std::unordered_map<Identity, tir::Expr>;

template <typename Node>
ffi::Expected<Any> MutateDefault(const Node& n, ffi::StructuralMutatorObj* mutator) {
  auto r = mutator->DefaultMutateExpected(n);
  if (r.is_err()) return ffi::Unexpected(std::move(r).error());
  return Any(std::move(r).value().ValueOrUnchanged(Any(n)));
}

// Every node of one kind below `root`, in pre-order.
template <typename Kind, typename Node>
std::vector<Kind> Collect(const Node& root) {
  std::vector<Kind> found;
  ffi::StructuralWalk<ffi::WalkOrder::kPreOrder>(root, [&](const Kind& k) -> ffi::Expected<ffi::WalkResult> {
    found.push_back(k);
    return ffi::WalkResult::Advance();
  });
  return found;
}

template <typename Node>
VarSet VarsIn(const Node& root) {
  VarSet found;
  for (const tir::Var& v : Collect<tir::Var>(root)) found.insert(v.get());
  return found;
}

template <typename Node>
bool Mentions(const Node& root, const VarSet& vars) {
  for (const tir::Var& v : Collect<tir::Var>(root)) {
    if (vars.count(v.get())) return true;
  }
  return false;
}

template <typename Node>
Node Substitute(const Node& root, const VarMap& values) {
  if (values.empty()) return root;
  return ffi::StructuralMutate(root,
                               [&](const tir::Var& v, ffi::StructuralMutatorObj*) -> ffi::Expected<Any> {
                                 auto it = values.find(v.get());
                                 return it == values.end() ? Any(ffi::Unchanged()) : Any(it->second);
                               })
      .template cast<Node>();
}

inline bool SameExpr(const ObjectRef& a, const ObjectRef& b) { return a.same_as(b) || ffi::StructuralEqual()(a, b); }

inline bool SameIndices(const Array<tir::Expr>& a, const Array<tir::Expr>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameExpr(a[i], b[i])) return false;
  }
  return true;
}

// TVM's integer analyser.
class Analyzer {
 public:
  Analyzer() : self_(Call<ObjectRef>(ST_GLOBAL("sym.Analyzer"))) {}
  void Bind(const tir::Var& v, const tir::Range& r) { ST_GLOBAL("sym.AnalyzerBind")(self_, v, r, true); }
  bool CanProve(const tir::Expr& e) const { return Call<bool>(ST_GLOBAL("sym.AnalyzerCanProve"), self_, e, 0); }
  tir::Expr Simplify(const tir::Expr& e) const {
    return Call<tir::Expr>(ST_GLOBAL("sym.AnalyzerSimplify"), self_, e, 2);
  }
  tir::ConstIntBound BoundOf(const tir::Expr& e) const {
    return Call<tir::ConstIntBound>(ST_GLOBAL("sym.AnalyzerConstIntBound"), self_, e);
  }

 private:
  ObjectRef self_;
};
}  // namespace sparse_tir
