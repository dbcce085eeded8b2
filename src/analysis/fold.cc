#include "fold.h"

#include "../ir/diagnostics.h"

#include <limits>

namespace sparse_tir {
using namespace tir;

namespace {
struct Term {
  Expr value;
  bool negative;
};

void SumTerms(const Expr& e, bool negative, std::vector<Term>* out) {
  if (auto add = e.as<Add>()) {
    SumTerms(add.value().a(), negative, out);
    SumTerms(add.value().b(), negative, out);
  } else if (auto sub = e.as<Sub>()) {
    SumTerms(sub.value().a(), negative, out);
    SumTerms(sub.value().b(), !negative, out);
  } else {
    out->push_back({e, negative});
  }
}

template <typename Op>
void ChainTerms(const Expr& e, std::vector<Term>* out) {
  if (auto op = e.as<Op>()) {
    ChainTerms<Op>(op.value().a(), out);
    ChainTerms<Op>(op.value().b(), out);
  } else {
    out->push_back({e, false});
  }
}

std::string TermsOf(const Expr& value, std::vector<Term>* terms) {
  if (value.as<Add>() || value.as<Sub>()) {
    SumTerms(value, false, terms);
    return "sum";
  }
  if (value.as<Mul>()) {
    ChainTerms<Mul>(value, terms);
    return "prod";
  }
  if (value.as<Max>()) {
    ChainTerms<Max>(value, terms);
    return "max";
  }
  if (value.as<Min>()) {
    ChainTerms<Min>(value, terms);
    return "min";
  }
  return "";
}

Expr Zero(const Expr& like) { return CastTo(IntLit(0, Int(32)), DTypeOf(like)); }
}  // namespace

bool IsLoadOf(const Expr& e, const BufferStore& store) {
  auto load = e.as<TensorLoad>();
  return load && load.value().source().same_as(store.buffer()) && SameIndices(load.value().indices(), store.indices());
}

std::optional<Fold> MatchFold(const BufferStore& store) {
  std::vector<Term> terms;
  std::string combiner = TermsOf(store.value(), &terms);
  if (combiner.empty()) return std::nullopt;
  std::optional<Expr> rest;
  int loads = 0;
  for (const Term& term : terms) {
    if (IsLoadOf(term.value, store) && !term.negative) {
      ++loads;
      continue;
    }
    if (!rest) {
      rest = term.negative ? Zero(term.value) - term.value : term.value;
    } else {
      rest = term.negative ? *rest - term.value : Combine(combiner, *rest, term.value);
    }
  }
  VarSet written{store.buffer().get()};
  if (loads != 1 || !rest || Mentions(*rest, written)) return std::nullopt;
  return Fold{combiner, *rest};
}

Expr Combine(const std::string& combiner, const Expr& a, const Expr& b) {
  if (combiner == "sum") return a + b;
  // Not TVM's operator: it takes `NaN * 0` for 0.
  if (combiner == "prod") return Call<Expr>(ST_GLOBAL("prim.Mul"), a, b, nullptr);
  if (combiner == "max") return Maximum(a, b);
  if (combiner == "min") return Minimum(a, b);
  Bug("no combiner `" + combiner + "`");
}

Expr IdentityOf(const std::string& combiner, const PrimType& dtype) {
  DLDataType t = dtype.dtype();
  if (combiner == "sum") return CastTo(IntLit(0, Int(32)), t);
  if (combiner == "prod") return CastTo(IntLit(1, Int(32)), t);
  bool is_max = combiner == "max";
  if (t.code == kDLFloat || t.code == kDLBfloat) {
    double infinity = std::numeric_limits<double>::infinity();
    return Call<Expr>(ST_GLOBAL("ir.FloatImm"), t, is_max ? -infinity : infinity, nullptr);
  }
  return is_max ? Call<Expr>(ST_GLOBAL("prim.min_value"), dtype, nullptr)
                : Call<Expr>(ST_GLOBAL("prim.max_value"), dtype, nullptr);
}
}  // namespace sparse_tir
