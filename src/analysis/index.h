// Subscripts, computed in int64.
#pragma once
#include <functional>

#include "../tvm_view/visit.h"

namespace sparse_tir {
// The same integer in int64: constants, sums, differences, products and quotients of signed integers are redone in
// int64, so that nothing overflows on the way; `leaf` gives the rest, in int64. Unsigned arithmetic wraps and is a
// leaf.
tir::Expr WidenIndex(const tir::Expr& e, const std::function<tir::Expr(const tir::Expr&)>& leaf);
}  // namespace sparse_tir
