#include "sites.h"

namespace sparse_tir {
using namespace tir;

namespace {
void CollectStores(const Scope& scope, const std::vector<size_t>& path, std::vector<Site>* out) {
  std::vector<Stmt> statements = Statements(scope.innermost().body);
  for (size_t i = 0; i < statements.size(); ++i) {
    std::vector<size_t> here = path;
    here.push_back(i);
    if (auto store = statements[i].as<BufferStore>()) {
      out->push_back({store.value(), scope, here});
    } else if (auto realize = statements[i].as<SBlockRealize>()) {
      CollectStores(scope.Enter(IterationOf(realize.value()).value()), here, out);
    }
  }
}

void CollectStarts(const Scope& scope, const std::vector<size_t>& path, std::vector<Site>* out) {
  if (scope.innermost().init.has_value()) {
    std::vector<size_t> first = path;
    first.push_back(0);
    for (const Stmt& s : Statements(scope.innermost().init.value())) {
      out->push_back({s.as<BufferStore>().value(), scope, first});
    }
  }
  std::vector<Stmt> statements = Statements(scope.innermost().body);
  for (size_t i = 0; i < statements.size(); ++i) {
    auto realize = statements[i].as<SBlockRealize>();
    if (!realize) continue;
    std::vector<size_t> here = path;
    here.push_back(i);
    CollectStarts(scope.Enter(IterationOf(realize.value()).value()), here, out);
  }
}
}  // namespace

std::vector<Site> StoresOf(const Scope& outermost) {
  std::vector<Site> sites;
  CollectStores(outermost, {}, &sites);
  return sites;
}

std::vector<Site> StartsOf(const Scope& outermost) {
  std::vector<Site> sites;
  CollectStarts(outermost, {}, &sites);
  return sites;
}

size_t InnermostCommon(const Site& a, const Site& b) {
  size_t common = 0;
  while (common < a.path.size() && common < b.path.size() && a.path[common] == b.path[common]) ++common;
  return common;
}

bool HasStart(const Site& site) {
  const Optional<Stmt>& init = site.scope.innermost().init;
  if (!init.has_value()) return false;
  for (const Stmt& s : Statements(init.value())) {
    auto start = s.as<BufferStore>().value();
    if (start.buffer().same_as(site.store.buffer()) && SameIndices(start.indices(), site.store.indices())) return true;
  }
  return false;
}

bool ContainsInOnePlace(const Expr& var, const Array<Expr>& a, const Array<Expr>& b) {
  for (size_t d = 0; d < a.size(); ++d) {
    if (a[d].same_as(var) && b[d].same_as(var)) return true;
  }
  return false;
}
}  // namespace sparse_tir
