// User errors. The wording of a code's title is Python's (errors.py); here only the particulars are said.
#pragma once
#include <string>

#include "sparse_iteration.h"

namespace sparse_tir {
struct Particulars {
  const char* code;   // "ST408"
  std::string where;  // the iteration, buffer or block at fault
  std::string found;
  std::string expected;  // may be empty, like the rest
  std::string hint;
  Optional<tir::Span> span;
};
// Throws the class of the code: ST2xx a ScriptError, ST4xx a LegalityError.
[[noreturn]] void Refuse(const Particulars& p);
// Throws an InternalError: a bug of ours.
[[noreturn]] void Bug(const std::string& what);

// The text of an expression, for messages.
std::string Text(const ObjectRef& node);
std::string Text(const tir::Stmt& statement);  // what it is, in words
std::string Text(const tir::Var& buffer, const Array<tir::Expr>& indices);
std::string Quoted(const Axis& axis);
}  // namespace sparse_tir
