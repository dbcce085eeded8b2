// Law 10: which reads of a written buffer have a defined value.
#include "sites.h"
#include "verifier.h"

namespace sparse_tir {
namespace verifier {
using namespace tir;

namespace {
// (b): by a later inner iteration, at elements whose subscripts contain all enclosing S iterators as the writer has
// them.
bool IsLaterInnerRead(const Site& writer, const Site& reader, const TensorLoad& load) {
  size_t common = InnermostCommon(writer, reader);
  bool later = common < writer.path.size() && common < reader.path.size() && writer.path[common] < reader.path[common];
  bool inner = reader.path.size() > common + 1;
  if (!later || !inner) return false;
  for (size_t k = 0; k <= common; ++k) {
    for (const SparseIterator& it : reader.scope.stack()[k].iterators) {
      if (it.is_reduction || !ContainsInOnePlace(it.var, writer.store.indices(), load.indices())) return false;
    }
  }
  return true;
}
}  // namespace

void CheckOrder(const Scope& outermost) {
  std::vector<Site> writers = StoresOf(outermost), readers = StartsOf(outermost);
  readers.insert(readers.end(), writers.begin(), writers.end());
  for (const Site& reader : readers) {
    std::vector<TensorLoad> loads = Collect<TensorLoad>(reader.store.value());
    for (const Expr& e : reader.store.indices()) {
      for (const TensorLoad& l : Collect<TensorLoad>(e)) loads.push_back(l);
    }
    for (const TensorLoad& load : loads) {
      if (IsLoadOf(load, reader.store)) continue;  // (a): at the very element the statement writes
      for (const Site& writer : writers) {
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
