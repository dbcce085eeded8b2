// Folds: statements of the form Y[e] = combine(Y[e], v), with a combiner of the language and v free of Y.
#pragma once
#include <optional>
#include <string>

#include "../tvm_view/visit.h"

namespace sparse_tir {
struct Fold {
  std::string combiner;    // "sum", "prod", "max" or "min"
  tir::Expr contribution;  // v
};
std::optional<Fold> MatchFold(const tir::BufferStore& store);

tir::Expr Combine(const std::string& combiner, const tir::Expr& a, const tir::Expr& b);
// The value that changes nothing.
tir::Expr IdentityOf(const std::string& combiner, const tir::PrimType& dtype);
// Whether `e` is a load of the very element that `store` writes.
bool IsLoadOf(const tir::Expr& e, const tir::BufferStore& store);
}  // namespace sparse_tir
