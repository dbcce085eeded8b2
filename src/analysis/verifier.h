// The laws that can be checked before data is seen. Each check throws the error of the law that is broken.
#pragma once
#include "fold.h"
#include "scope.h"

namespace sparse_tir {
// \pre the function is at the coordinate stage. \post it breaks no law.
void Verify(const tir::PrimFunc& func);

namespace verifier {
// One check per question; `scope` is what the statement sees.
void CheckHeader(const Scope& scope);                         // names, kinds, parents
void CheckReads(const Scope& scope, const tir::Expr& value);  // law 2
void CheckSubscripts(const Scope& scope, const tir::Expr& buffer, const Array<tir::Expr>& indices,
                     const Optional<tir::Span>& span);
void CheckWrite(const Scope& scope, const tir::BufferStore& store);             // laws 1, 3, 9
void CheckInit(const Scope& scope, const std::vector<tir::BufferStore>& body);  // law 4
void CheckOrder(const Scope& scope);                                            // law 10, of an outermost iteration
void CheckWriters(const Scope& scope);                                          // law 9, of an outermost iteration
}  // namespace verifier
}  // namespace sparse_tir
