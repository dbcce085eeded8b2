// Divisions in subscripts.
#pragma once
#include "../../tvm_view/visit.h"

namespace sparse_tir {
namespace lower_sparse_iter {
// Law 8 for a subscript: division by zero gives 0, where the machine would trap. Loads are left alone.
tir::Expr SafeDivisions(const tir::Expr& index);
}  // namespace lower_sparse_iter
}  // namespace sparse_tir
