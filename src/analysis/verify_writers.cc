// Law 9 between statements: what two statements of one outermost iteration may write to one buffer.
//
// Positions of an iteration have no order. So two statements may reach one element only from one spatial position,
// where they run in the order of the program, and from several positions of a reduction only as folds that commute.
#include "sites.h"
#include "verifier.h"

namespace sparse_tir {
namespace verifier {
using namespace tir;

namespace {
struct Pair {
  const Site &first, &second;

  std::string First() const { return Text(first.store.buffer(), first.store.indices()); }
  std::string Second() const { return Text(second.store.buffer(), second.store.indices()); }
  bool IsOneElement() const { return SameIndices(first.store.indices(), second.store.indices()); }
  // The iterators of the iterations that hold both.
  std::vector<SparseIterator> Common() const {
    std::vector<SparseIterator> common;
    for (size_t k = 0; k <= InnermostCommon(first, second); ++k) {
      const auto& own = first.scope.stack()[k].iterators;
      common.insert(common.end(), own.begin(), own.end());
    }
    return common;
  }
};

// From no two positions do both reach one element: a place of the subscripts always differs.
bool IsDisjoint(const Pair& p) {
  Analyzer analyzer;
  VarMap other_position;
  auto bind = [&](const SparseIterator& it, const Var& v) {
    analyzer.Bind(v, MakeRange(IntLit(0, it.var.ty()), CastTo(it.axis->length, DTypeOf(it.var))));
  };
  for (const SparseIterator& it : p.first.scope.All()) bind(it, it.var);
  for (const SparseIterator& it : p.second.scope.All()) {
    Var other = MakeVar(it.var.name() + "_other", it.var.ty());
    bind(it, other);
    other_position[it.var.get()] = other;
  }
  for (size_t d = 0; d < p.first.store.indices().size(); ++d) {
    Expr second = Substitute(p.second.store.indices()[d], other_position);
    Expr differs = Call<Expr>(ST_GLOBAL("prim._OpNE"), p.first.store.indices()[d], second, nullptr);
    if (analyzer.CanProve(differs)) return true;
  }
  return false;
}

void CheckCommute(const Pair& p, const SparseIterator& it) {
  std::string both = p.First() + " and " + p.Second() + " may be one element";
  auto first = MatchFold(p.first.store), second = MatchFold(p.second.store);
  if (first->combiner != second->combiner) {
    Refuse({"ST409", p.second.scope.innermost().name,
            both + ", which positions of " + Quoted(it.axis) + " fold by " + first->combiner + " and by " +
                second->combiner,
            "one combiner for an element", "put the statements into iterations of their own", p.second.store.span()});
  }
  bool in_one_body =
      p.first.path.size() == p.second.path.size() && InnermostCommon(p.first, p.second) + 1 == p.first.path.size();
  if (HasStart(p.second) || (HasStart(p.first) && !in_one_body)) {
    Refuse({"ST407", p.second.scope.innermost().name, both + ", and the init of one erases what the other has folded",
            "an init in an iteration before both", "", p.second.store.span()});
  }
}

void CheckPair(const Pair& p) {
  bool is_one_element = p.IsOneElement();
  if (!is_one_element && IsDisjoint(p)) return;
  for (const SparseIterator& it : p.Common()) {
    bool is_kept = ContainsInOnePlace(it.var, p.first.store.indices(), p.second.store.indices());
    if (it.is_reduction) {
      // Every coordinate of a dense axis has one position.
      if (!(is_kept && IsDense(it.axis))) CheckCommute(p, it);
    } else if (!is_kept && !is_one_element) {
      Refuse({"ST408", p.second.scope.innermost().name,
              p.First() + " and " + p.Second() + " may be one element of different positions of spatial " +
                  Quoted(it.axis),
              "elements that always differ, or " + NameOf(it) + " in one place of both",
              "put the statements into iterations of their own", p.second.store.span()});
    }
  }
}
}  // namespace

void CheckWriters(const Scope& outermost) {
  std::vector<Site> sites = StoresOf(outermost);
  for (size_t i = 0; i < sites.size(); ++i) {
    for (size_t k = i + 1; k < sites.size(); ++k) {
      if (sites[i].store.buffer().same_as(sites[k].store.buffer())) CheckPair({sites[i], sites[k]});
    }
  }
}
}  // namespace verifier
}  // namespace sparse_tir
