// A sparse iteration: a typed view of the block that carries it.
//
// TVM's PrimFunc constructor, printer, `specialize` and Schedule refuse a statement class that they do not know, so
// an iteration that is not lowered yet lives in an ordinary block: its iterators are block iterators bound by the op
// `sparse_tir.position`, which no code generator knows, and its axes and buffers are annotations (names.h).
#pragma once
#include <optional>
#include <vector>

#include "names.h"
#include "sparse_buffer.h"

namespace sparse_tir {
struct SparseIterator {
  tir::Var var;
  Axis axis;
  bool is_reduction;
};

struct SparseIteration {
  String name;
  std::vector<SparseIterator> iterators;
  Array<SparseBuffer> buffers;  // every sparse buffer declared so far
  Optional<tir::Stmt> init;
  tir::Stmt body;
  Optional<tir::Span> span;
};

// nullopt if the block carries no iteration.
std::optional<SparseIteration> IterationOf(const tir::SBlockRealize& realize);
// The statements of a body, in order: stores and nested carriers.
std::vector<tir::Stmt> Statements(const tir::Stmt& body);
// The statements of a function, without the root block that TVM puts around them.
std::vector<tir::Stmt> OutermostStatements(const tir::PrimFunc& func);
// "file:line:column" or nothing.
std::string Where(const Optional<tir::Span>& span);
}  // namespace sparse_tir
