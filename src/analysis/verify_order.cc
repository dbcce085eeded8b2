// Law 10: which reads of a written buffer have a defined value.
#include "verifier.h"

namespace sparse_tir {
namespace verifier {
using namespace tir;

namespace {
// A store and the way to it: which statement in each enclosing body.
struct Site {
  BufferStore store;
  Scope scope;
  std::vector<size_t> path;
};

void CollectSites(const Scope& scope, std::vector<size_t> path, std::vector<Site>* out) {
  std::vector<Stmt> statements = Statements(scope.innermost().body);
  for (size_t i = 0; i < statements.size(); ++i) {
    std::vector<size_t> here = path;
    here.push_back(i);
    if (auto store = statements[i].as<BufferStore>()) {
      out->push_back({store.value(), scope, here});
    } else if (auto realize = statements[i].as<SBlockRealize>()) {
      CollectSites(scope.Enter(IterationOf(realize.value()).value()), here, out);
    }
  }
}

bool ContainsWhereWritten(const Expr& var, const Array<Expr>& written, const Array<Expr>& read) {
  for (size_t d = 0; d < written.size(); ++d) {
    if (written[d].same_as(var) && read[d].same_as(var)) return true;
  }
  return false;
}

// (b): by a later inner iteration, at elements whose subscripts contain all enclosing S iterators as the writer has them.
bool IsLaterInnerRead(const Site& writer, const Site& reader, const TensorLoad& load) {
  size_t common = 0;
  while (common < writer.path.size() && common < reader.path.size() && writer.path[common] == reader.path[common]) {
    ++common;
  }
  bool later = common < writer.path.size() && common < reader.path.size() && writer.path[common] < reader.path[common];
  bool inner = reader.path.size() > common + 1;
  if (!later || !inner) return false;
  for (size_t k = 0; k <= common; ++k) {
    for (const SparseIterator& it : reader.scope.stack()[k].iterators) {
      if (it.is_reduction || !ContainsWhereWritten(it.var, writer.store.indices(), load.indices())) return false;
    }
  }
  return true;
}
}  // namespace

void CheckOrder(const Scope& outermost) {
  std::vector<Site> sites;
  CollectSites(outermost, {}, &sites);
  for (const Site& reader : sites) {
    std::vector<TensorLoad> loads = Collect<TensorLoad>(reader.store.value());
    for (const Expr& e : reader.store.indices()) {
      for (const TensorLoad& l : Collect<TensorLoad>(e)) loads.push_back(l);
    }
    for (const TensorLoad& load : loads) {
      if (IsLoadOf(load, reader.store)) continue;  // (a): at the very element the statement writes
      for (const Site& writer : sites) {
        if (!writer.store.buffer().same_as(load.source()) || IsLaterInnerRead(writer, reader, load)) continue;
        Refuse({"ST410", reader.scope.innermost().name,
                "a read of " + Text(writer.store.buffer(), load.indices()) + ", which `" +
                    std::string(writer.scope.innermost().name) + "` writes at " +
                    Text(writer.store.buffer(), writer.store.indices()),
                "reads of the very element that the statement writes, or of the same row by a later inner iteration",
                "read it in a later outermost iteration", load.span()});
      }
    }
  }
}
}  // namespace verifier
}  // namespace sparse_tir
