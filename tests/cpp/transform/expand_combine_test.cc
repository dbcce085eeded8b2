// ExpandCombine: a store that stands for an accumulation becomes real, where its block owns the element.
#include "programs.h"
#include "transform/nest.h"

namespace sparse_tir {
namespace testing {
namespace {
Stmt KeepBlock(const SBlockRealize& r, const Nest&) { return r; }

// COO scatter at the position stage. Both loops, of the cover and of the scatter, are of the kind.
PrimFunc Scatter(ForKind kind = kSerial) {
  return RewriteNests(AtPositions(CooScatter()), KeepBlock, [&](const For& loop, const Nest&) -> Stmt {
    return MakeFor(loop.loop_var(), loop.extent(), loop.body(), kind);
  });
}

// The same, with an annotation that says which arrays are injective.
PrimFunc Owning(const PrimFunc& f, const char* array) {
  return RewriteNests(
      f,
      [&](const SBlockRealize& r, const Nest&) -> Stmt {
        Map<String, Any> annotations = r.block().annotations();
        if (!annotations.count(names::kCombine)) return r;
        annotations.Set(names::kOwned, Array<String>{array});
        BlockChange change;
        change.annotations = annotations;
        return WithBlock(r, change);
      },
      KeepLoop);
}
PrimFunc Expand(const PrimFunc& f) { return Apply(f, {"PlaceInit", "ExpandCombine"}); }
}  // namespace

TEST(ExpandCombine, AddsToTheElementAfterTheCover) {
  EXPECT_EQ(Body(Expand(Scatter())),
            R"(for p in range(T.Cast("int64", m)):
    with T.sblock("scatter_init"):
        vp = T.axis.spatial(T.Cast("int64", m), p)
        T.sblock_attr({"sparse_tir.cover": "sum"})
        Y[vp] = T.float32(0.0)
for p in range(T.Cast("int64", nnz)):
    with T.sblock("scatter"):
        vp = T.axis.spatial(T.Cast("int64", nnz), p)
        if T.Cast("int64", rows[vp]) < T.Cast("int64", m):
            Y[T.Cast("int64", rows[vp])] = Y[T.Cast("int64", rows[vp])] + E[vp]
)");
}

TEST(ExpandCombine, LeavesNoAnnotation) {
  for (const SBlock& block : Collect<SBlock>(Expand(Owning(Scatter(), "rows")).body())) {
    EXPECT_FALSE(block.annotations().count(names::kCombine));
    EXPECT_FALSE(block.annotations().count(names::kOwned));
  }
}

TEST(ExpandCombine, RefusesConcurrentLoopsThatShareAnElement) {
  for (ForKind kind : {kParallel, kVectorized}) {
    EXPECT_TRUE(Refuses([&] { Expand(Scatter(kind)); },
                        {"LegalityError", "[ST423] block `scatter`", "loop `p`", "one element of Y"}));
  }
  EXPECT_EQ(ErrorOf([] { Expand(Scatter(kUnrolled)); }), "");
}

TEST(ExpandCombine, TakesAnInjectiveArrayForOwnership) {
  EXPECT_EQ(ErrorOf([] { Expand(Owning(Scatter(kParallel), "rows")); }), "");
  EXPECT_TRUE(Refuses([] { Expand(Owning(Scatter(kParallel), "other")); }, {"[ST423]"}));
}

TEST(ExpandCombine, RefusesAnAccumulationIntoACache) {
  PrimFunc f = Scatter();
  Array<Var> params = f.params();
  params.pop_back();  // Y is no longer the caller's
  EXPECT_TRUE(Refuses([&] { Expand(CopyFunc(f, params, f.body())); },
                      {"[ST422] block `scatter`", "an accumulation into the cache Y"}));
}

TEST(ExpandCombine, LeavesBlocksWithoutACombinerAlone) {
  PrimFunc placed = Apply(AtPositions(RowSum()), {"PlaceInit"});
  EXPECT_TRUE(SameExpr(Apply(placed, {"ExpandCombine"}).body(), placed.body()));
}
}  // namespace testing
}  // namespace sparse_tir
