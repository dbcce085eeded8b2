// The loops and blocks around a block, after scheduling.
#pragma once
#include "../tvm_view/visit.h"

namespace sparse_tir {
// For and SBlockRealize nodes, outermost first.
using Nest = std::vector<ObjectRef>;

struct BoundIterator {
  tir::IterVar iter_var;
  tir::Expr value;  // in terms of loops
};
// The block iterators of a nest with their values; values of outer blocks are substituted.
std::vector<BoundIterator> BoundIterators(const Nest& nest);
VarMap Bindings(const Nest& nest);
// Loops (and other variables) that carry a reduction iterator of a block in the nest.
VarSet ReducingVars(const std::vector<BoundIterator>& iterators);
// Where the part of the nest begins that sees one instance of the buffer: inside the block that allocates it.
size_t ScopeDepth(const Nest& nest, const tir::Var& buffer);

// Rebuilds a function from the inside out. The hooks get the node with its children done, and what is around it.
using OnRealize = std::function<tir::Stmt(const tir::SBlockRealize&, const Nest&)>;
using OnLoop = std::function<tir::Stmt(const tir::For&, const Nest&)>;
tir::PrimFunc RewriteNests(const tir::PrimFunc& func, const OnRealize& on_realize, const OnLoop& on_loop);
inline tir::Stmt KeepLoop(const tir::For& loop, const Nest&) { return loop; }

tir::Stmt WithBlock(const tir::SBlockRealize& realize, const tir::BlockChange& change);
// The block's reads together with its writes: what it reads once it accumulates into existing elements.
Array<tir::TensorRegion> ReadsAndWrites(const tir::SBlock& block);
}  // namespace sparse_tir
