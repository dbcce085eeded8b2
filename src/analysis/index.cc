#include "index.h"

namespace sparse_tir {
using namespace tir;

namespace {
bool IsSigned(const Expr& e) { return DTypeOf(e).code == kDLInt; }

bool IsWidening(const Cast& cast) {
  return IsSigned(cast) && IsSigned(cast.value()) && DTypeOf(cast).bits >= DTypeOf(cast.value()).bits;
}
}  // namespace

Expr WidenIndex(const Expr& e, const std::function<Expr(const Expr&)>& leaf) {
  if (!IsSigned(e)) return leaf(e);
  auto wide = [&](const Expr& x) { return WidenIndex(x, leaf); };
  if (auto x = e.as<IntImm>()) return Int64(x.value().value());
  if (auto x = e.as<Add>()) return wide(x.value().a()) + wide(x.value().b());
  if (auto x = e.as<Sub>()) return wide(x.value().a()) - wide(x.value().b());
  if (auto x = e.as<Mul>()) return wide(x.value().a()) * wide(x.value().b());
  if (auto x = e.as<FloorDiv>()) return FloorDivide(wide(x.value().a()), wide(x.value().b()));
  if (auto x = e.as<FloorMod>()) return FloorModulo(wide(x.value().a()), wide(x.value().b()));
  if (auto x = e.as<Cast>(); x && IsWidening(x.value())) return wide(x.value().value());
  return leaf(e);
}
}  // namespace sparse_tir
