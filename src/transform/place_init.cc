// PlaceInit: an init means "once per iteration"; after scheduling it moves to where that is so.
//
// \pre stage "position", scheduled or not. \post only thread-bound reductions keep an init; every element of an output
// domain starts once.
//
// TVM runs an init at the first value of all reduction iterators, inside the loops: never for a row without elements,
// and once per outer step of nested reductions. Its place is above the outermost loop that carries a reduction iterator
// of the block or of an enclosing one, no further out than the block that allocates the buffer. Loops below that carry
// spatial iterators only are copied, so that lanes and threads stay on their elements. A loop that carries both kinds
// (`fuse(j, k)`) must not be copied, its extent is the data's: the iterator's domain is enumerated or, where other
// loops fix a part of its value (`ko * 16 + f % 16`), each bounded term of the rest.
#include <map>

#include "../ir/diagnostics.h"
#include "nest.h"
#include "pass.h"

namespace sparse_tir {
namespace {
using namespace tir;

constexpr int64_t kLongestTerm = int64_t{1} << 20;  // enumerating a longer one would not be an init any more

void RefuseInit(const SBlock& block, const std::string& found) {
  Refuse({"ST422", "PlaceInit: block `" + std::string(block.name_hint()) + "`", found,
          "loops over the elements of the output that do not depend on the reduction", "", block.span()});
}

struct Term {
  std::optional<int64_t> factor;
  Expr atom;
};

std::vector<Term> LinearTerms(const Expr& e, int64_t factor) {
  if (auto add = e.as<Add>()) {
    std::vector<Term> terms = LinearTerms(add.value().a(), factor);
    for (const Term& t : LinearTerms(add.value().b(), factor)) terms.push_back(t);
    return terms;
  }
  if (auto mul = e.as<Mul>()) {
    if (auto imm = mul.value().b().as<IntImm>()) return LinearTerms(mul.value().a(), factor * imm.value().value());
  }
  return {{factor, e}};
}

void Conjuncts(const Expr& e, std::vector<Expr>* out) {
  if (auto both = e.as<And>()) {
    Conjuncts(both.value().a(), out);
    Conjuncts(both.value().b(), out);
  } else {
    out->push_back(e);
  }
}

bool IsSubset(const VarSet& a, const VarSet& b) {
  for (Identity v : a) {
    if (!b.count(v)) return false;
  }
  return true;
}

// The init of a nest's innermost block, over loops of its own. The nest begins with the loop to hoist above.
class InitBuilder {
 public:
  InitBuilder(Nest nest, VarSet reducing) : nest_(std::move(nest)), reducing_(std::move(reducing)) {
    for (const ObjectRef& node : nest_) {
      if (auto loop = node.as<For>()) {
        old_.push_back(loop.value());
        old_vars_.insert(loop.value().loop_var().get());
        analyzer_.Bind(loop.value().loop_var(), MakeRange(loop.value().min(), loop.value().extent()));
      }
    }
  }

  Stmt Build() {
    SBlock block = nest_.back().as<SBlockRealize>().value().block();
    block_ = block;
    Stmt init = block.init().value();
    VarSet used = VarsIn(init);
    std::vector<BoundIterator> iterators = BoundIterators(nest_);
    VarMap values, known;
    for (const BoundIterator& it : iterators) values[it.iter_var.var().get()] = it.value;
    for (const BoundIterator& it : iterators) {
      if (used.count(it.iter_var.var().get())) known[it.iter_var.var().get()] = ValueOf(it);
    }
    CopyPredicates(values);
    Stmt result = Substitute(init, known);
    for (const Expr& guard : guards_) result = MakeIf(guard, result);
    for (size_t k = loops_.size(); k-- > 0;) result = loops_[k](result);
    return result;
  }

 private:
  // Enumerates exactly what the iterator takes inside the nest.
  Expr ValueOf(const BoundIterator& it) {
    if (!Mentions(it.value, reducing_)) return Copied(it.value);
    const Range dom = it.iter_var.dom();
    std::vector<Term> terms = LinearTerms(analyzer_.Simplify(it.value), 1);
    bool all = true;
    for (const Term& t : terms) all = all && Mentions(t.atom, reducing_);
    if (all) return dom.min() + Loop(it.iter_var.var(), dom.extent(), kSerial, std::nullopt, {});
    Expr total = IntLit(0, it.iter_var.var().ty());
    for (const Term& t : terms) {
      Expr atom = Mentions(t.atom, reducing_) ? Bounded(it, t.atom) : Copied(t.atom);
      total = total + atom * IntLit(*t.factor, atom.ty());
    }
    guards_.push_back(total < dom.min() + dom.extent());
    return total;
  }

  Expr Bounded(const BoundIterator& it, const Expr& atom) {
    ConstIntBound bound = analyzer_.BoundOf(atom);
    int64_t high = bound.max_value();
    if (bound.min_value() != 0 || high > kLongestTerm) {
      RefuseInit(block_,
                 Text(atom) + ", a part of `" + std::string(it.iter_var.var().name()) + "`, without a constant bound");
    }
    return Loop(it.iter_var.var(), IntLit(high + 1, it.iter_var.var().ty()), kSerial, std::nullopt, {});
  }

  Expr Copied(const Expr& e) {
    for (const For& loop : old_) {
      Identity var = loop.loop_var().get();
      if (!Mentions(e, {var}) || fresh_.count(var)) continue;
      if (Mentions(loop.min(), old_vars_)) {
        RefuseInit(block_, "loop `" + std::string(loop.loop_var().name()) + "` starts where loops below the init say");
      }
      fresh_[var] =
          loop.min() + Loop(loop.loop_var(), loop.extent(), loop.kind(), loop.thread_binding(), loop.annotations());
    }
    return Substitute(e, fresh_);
  }

  Var Loop(const Var& like, const Expr& extent, int64_t kind, const Optional<IterVar>& thread,
           const Map<String, Any>& annotations) {
    if (Mentions(extent, old_vars_)) {
      RefuseInit(block_, "the extent of loop `" + std::string(like.name()) + "` depends on loops below the init");
    }
    Var fresh = MakeVar(std::string(like.name()) + "_init", like.ty());
    loops_.push_back([=](const Stmt& body) { return MakeFor(fresh, extent, body, kind, thread, annotations); });
    return fresh;
  }

  // A predicate goes along unless a reduction loop is in it; also one that is decided above the init, in which no
  // copied loop is.
  void CopyPredicates(const VarMap& values) {
    VarSet copied;
    for (const auto& [var, value] : fresh_) copied.insert(var);
    for (const ObjectRef& node : nest_) {
      auto realize = node.as<SBlockRealize>();
      if (!realize) continue;
      std::vector<Expr> conditions;
      Conjuncts(Substitute(realize.value().predicate(), values), &conditions);
      for (const Expr& condition : conditions) {
        VarSet loops;
        for (Identity v : VarsIn(condition)) {
          if (old_vars_.count(v)) loops.insert(v);
        }
        bool is_always = condition.as<IntImm>().has_value();
        if (!is_always && IsSubset(loops, copied)) guards_.push_back(Substitute(condition, fresh_));
      }
    }
  }

  Nest nest_;
  VarSet reducing_;
  SBlock block_;
  std::vector<For> old_;
  VarSet old_vars_;
  Analyzer analyzer_;
  VarMap fresh_;
  std::vector<std::function<Stmt(const Stmt&)>> loops_;
  std::vector<Expr> guards_;
};

class InitPlacer {
 public:
  PrimFunc Run(const PrimFunc& f) {
    return RewriteNests(
        f, [this](const SBlockRealize& r, const Nest& around) { return OnBlock(r, around); },
        [this](const For& loop, const Nest& around) { return OnLoop(loop, around); });
  }

 private:
  Stmt OnBlock(const SBlockRealize& realize, const Nest& around) {
    if (!realize.block().init().has_value()) return realize;
    Var buffer = realize.block().writes()[0].source().as<Var>().value();
    size_t start = ScopeDepth(around, buffer);
    Nest nest(around.begin() + start, around.end());
    nest.push_back(realize);
    Nest whole = around;
    whole.push_back(realize);
    // Only iterators inside of the scope of the buffer matter, with values in terms of all loops.
    std::vector<BoundIterator> inside, all = BoundIterators(whole);
    size_t outside = BoundIterators(Nest(around.begin(), around.begin() + start)).size();
    inside.assign(all.begin() + outside, all.end());
    VarSet reducing = ReducingVars(inside);
    std::optional<size_t> first;
    for (size_t d = 0; d < nest.size(); ++d) {
      auto loop = nest[d].as<For>();
      if (!loop || !reducing.count(loop.value().loop_var().get())) continue;
      if (loop.value().kind() == kThreadBinding) return realize;  // the reduction of TVM across threads needs it
      if (!first) first = d;
    }
    if (!first) return realize;
    pending_.emplace(start + *first, InitBuilder(Nest(nest.begin() + *first, nest.end()), reducing).Build());
    BlockChange change;
    change.init = Optional<Stmt>(std::nullopt);
    change.reads = ReadsAndWrites(realize.block());
    return WithBlock(realize, change);
  }

  Stmt OnLoop(const For& loop, const Nest& around) {
    auto [begin, end] = pending_.equal_range(around.size());
    Array<Stmt> seq;
    for (auto it = begin; it != end; ++it) seq.push_back(it->second);
    pending_.erase(begin, end);
    seq.push_back(loop);
    return MakeSeq(seq);
  }

  std::multimap<size_t, Stmt> pending_;  // depth of the loop that an init goes above
};

// No placement can repair a plain store that an enclosing reduction repeats: an inner block of nested reductions was
// cached or decomposed.
Stmt RefuseRepeatedStore(const SBlockRealize& realize, const Nest& around) {
  SBlock block = realize.block();
  auto store = block.body().as<BufferStore>();
  if (!store || block.init().has_value() || block.annotations().count(names::kCombine)) return realize;
  Nest whole = around;
  whole.push_back(realize);
  VarMap values = Bindings(whole);
  VarSet reached = VarsIn(store.value().value());
  if (reached.count(store.value().buffer().get())) return realize;
  for (const Expr& index : store.value().indices()) {
    for (Identity v : VarsIn(Substitute(index, values))) reached.insert(v);
  }
  Nest inside(around.begin() + ScopeDepth(around, store.value().buffer()), around.end());
  std::vector<BoundIterator> iterators = BoundIterators(inside);
  for (BoundIterator& it : iterators) it.value = Substitute(it.value, values);
  for (Identity v : ReducingVars(iterators)) {
    if (reached.count(v)) continue;
    Refuse({"ST422", "block `" + std::string(block.name_hint()) + "`",
            "a store into " + std::string(store.value().buffer().name()) + " at every step of an outer reduction",
            "cache_write and decompose_reduction on the outermost reduction block only",
            "leave the init in its block: it is placed after scheduling", block.span()});
  }
  return realize;
}

PrimFunc PlaceInit(const PrimFunc& f) {
  RequireStage(f, "PlaceInit", names::kPositionStage);
  return RewriteNests(InitPlacer().Run(f), RefuseRepeatedStore, KeepLoop);
}
}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() { RegisterPass("PlaceInit", PlaceInit); }
}  // namespace sparse_tir
