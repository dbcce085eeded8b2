#include "one_to_one.h"

#include <algorithm>
#include <cstdlib>

namespace sparse_tir {
using namespace tir;

namespace {
struct LinearTerm {
  std::optional<int64_t> constant;  // coefficient, if it is one
  Expr coefficient;
  Expr atom;
};

std::optional<int64_t> AsConstant(const Expr& e) {
  if (auto imm = e.as<IntImm>()) return imm.value().value();
  if (auto cast = e.as<Cast>()) return AsConstant(cast.value().value());
  return std::nullopt;
}

LinearTerm Scale(const LinearTerm& t, const Expr& factor) {
  auto c = AsConstant(factor);
  std::optional<int64_t> constant;
  if (c && t.constant) constant = *c * *t.constant;
  return {constant, t.coefficient * factor, t.atom};
}

// Different values stay different.
bool IsInjective(const Cast& cast) {
  DLDataType from = DTypeOf(cast.value()), to = DTypeOf(cast);
  auto is_integer = [](DLDataType t) { return t.code == kDLInt || t.code == kDLUInt; };
  return is_integer(from) && is_integer(to) && to.bits >= from.bits;
}

// e = sum of coefficient * atom. `vars` are the variables that a coefficient must not mention.
std::vector<LinearTerm> Linear(const Expr& e, const VarSet& vars) {
  std::vector<LinearTerm> out;
  auto append = [&](const Expr& part, int64_t sign) {
    for (const LinearTerm& t : Linear(part, vars)) out.push_back(sign > 0 ? t : Scale(t, IntLit(sign, e.ty())));
  };
  if (auto add = e.as<Add>()) {
    append(add.value().a(), 1);
    append(add.value().b(), 1);
  } else if (auto sub = e.as<Sub>()) {
    append(sub.value().a(), 1);
    append(sub.value().b(), -1);
  } else if (auto mul = e.as<Mul>(); mul && !Mentions(mul.value().b(), vars)) {
    for (const LinearTerm& t : Linear(mul.value().a(), vars)) out.push_back(Scale(t, mul.value().b()));
  } else if (mul && !Mentions(mul.value().a(), vars)) {
    for (const LinearTerm& t : Linear(mul.value().b(), vars)) out.push_back(Scale(t, mul.value().a()));
  } else if (auto cast = e.as<Cast>(); cast && IsInjective(cast.value())) {
    return Linear(cast.value().value(), vars);
  } else {
    out.push_back({1, IntLit(1, e.ty()), e});
  }
  return out;
}

// e // c and e % c in two places stand for e in one, if c is fixed.
std::vector<Expr> JoinDivisionPairs(const Array<Expr>& indices, const VarSet& vars) {
  std::vector<Expr> out;
  std::vector<bool> used(indices.size(), false);
  for (size_t a = 0; a < indices.size(); ++a) {
    auto div = indices[a].as<FloorDiv>();
    if (div && Mentions(div.value().b(), vars)) continue;
    for (size_t b = 0; div && b < indices.size() && !used[a]; ++b) {
      auto mod = indices[b].as<FloorMod>();
      if (!mod || used[b] || !SameExpr(div.value().a(), mod.value().a()) ||
          !SameExpr(div.value().b(), mod.value().b())) {
        continue;
      }
      used[a] = used[b] = true;
      out.push_back(div.value().a());
    }
  }
  for (size_t a = 0; a < indices.size(); ++a) {
    if (!used[a]) out.push_back(indices[a]);
  }
  return out;
}

Expr ExtentOf(const std::vector<RangedVar>& vars, const Expr& var) {
  for (const RangedVar& r : vars) {
    if (r.var.same_as(var)) return r.extent;
  }
  return IntLit(0, Int(32));
}

// (io * t + ii) * u + jj with ii in [0, t) and jj in [0, u): every coefficient is the one below it times the extent of
// the digit below.
bool IsSymbolicRadix(std::vector<LinearTerm> terms, const std::vector<RangedVar>& vars) {
  Analyzer analyzer;
  Expr coefficient = IntLit(1, terms.front().coefficient.ty());
  while (!terms.empty()) {
    auto digit = std::find_if(terms.begin(), terms.end(), [&](const LinearTerm& t) {
      return AsConstant(analyzer.Simplify(t.coefficient - coefficient)) == 0;
    });
    if (digit == terms.end()) return false;
    coefficient = coefficient * ExtentOf(vars, digit->atom);
    terms.erase(digit);
  }
  return true;
}

// Mixed radix: every coefficient exceeds what the smaller terms can add up to.
bool IsMixedRadix(std::vector<LinearTerm> terms, const std::vector<RangedVar>& vars) {
  for (const LinearTerm& t : terms) {
    if (!t.constant) return IsSymbolicRadix(terms, vars);
    if (*t.constant == 0) return false;
  }
  std::sort(terms.begin(), terms.end(),
            [](const LinearTerm& a, const LinearTerm& b) { return std::abs(*a.constant) < std::abs(*b.constant); });
  int64_t reach = 0;
  bool bounded = true;
  for (const LinearTerm& t : terms) {
    int64_t coefficient = std::abs(*t.constant);
    if (!bounded || coefficient <= reach) return false;
    auto extent = AsConstant(ExtentOf(vars, t.atom));
    bounded = extent.has_value();
    if (bounded && __builtin_mul_overflow(coefficient, std::max<int64_t>(*extent - 1, 0), &coefficient)) return false;
    if (bounded && __builtin_add_overflow(reach, coefficient, &reach)) return false;
  }
  return true;
}
}  // namespace

std::vector<RangedVar> Ranged(const std::vector<SparseIterator>& iterators) {
  std::vector<RangedVar> out;
  for (const SparseIterator& it : iterators) out.push_back({it.var, it.axis->length});
  return out;
}

VarSet Determined(const Array<Expr>& indices, const std::vector<RangedVar>& vars) {
  VarSet all, determined;
  for (const RangedVar& r : vars) all.insert(r.var.get());
  for (const Expr& e : JoinDivisionPairs(indices, all)) {
    std::vector<LinearTerm> digits;
    bool sound = true;
    for (const LinearTerm& t : Linear(e, all)) {
      if (all.count(t.atom.get())) {
        digits.push_back(t);
      } else {
        sound = sound && !Mentions(t.atom, all);  // any other term must be fixed
      }
    }
    for (size_t a = 0; a < digits.size(); ++a) {
      for (size_t b = 0; b < a; ++b) sound = sound && !digits[a].atom.same_as(digits[b].atom);
    }
    if (!sound || digits.empty() || !IsMixedRadix(digits, vars)) continue;
    for (const LinearTerm& t : digits) determined.insert(t.atom.get());
  }
  return determined;
}
}  // namespace sparse_tir
