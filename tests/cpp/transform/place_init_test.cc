// PlaceInit: an init runs once for each element, also where a row is empty.
#include "transform/nest.h"

#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
bool HasInit(const PrimFunc& f) {
  for (const SBlock& block : Collect<SBlock>(f.body())) {
    if (block.init().has_value()) return true;
  }
  return false;
}

// The function with its loop over `name` of another kind.
PrimFunc WithKind(const PrimFunc& f, const std::string& name, ForKind kind) {
  constexpr int kThreadIndex = 1;
  return RewriteNests(
      f, [](const SBlockRealize& r, const Nest&) -> Stmt { return r; },
      [&](const For& loop, const Nest&) -> Stmt {
        if (loop.loop_var().name() != name) return loop;
        Optional<IterVar> thread;
        if (kind == kThreadBinding) thread = MakeIterVar(loop.extent(), MakeVar("threadIdx.x", Int(64)), kThreadIndex);
        return MakeFor(loop.loop_var(), loop.extent(), loop.body(), kind, thread);
      });
}
}  // namespace

TEST(PlaceInit, PutsTheInitAboveTheLoopOverTheRow) {
  EXPECT_EQ(Body(Apply(AtPositions(RowSum()), {"PlaceInit"})),
            R"(for i in range(T.Cast("int64", m)):
    with T.sblock("row_sum_I"):
        vi = T.axis.spatial(T.Cast("int64", m), i)
        C[vi] = T.float32(0.0)
        for j in range(T.Cast("int64", indptr[vi + T.int64(1)]) - T.Cast("int64", indptr[vi])):
            with T.sblock("row_sum"):
                vj = T.axis.reduce(T.Cast("int64", nnz), j)
                C[vi] = C[vi] + A[T.Cast("int64", indptr[vi]) + vj]
)");
}

TEST(PlaceInit, CopiesTheSpatialLoopsBelow) {
  PrimFunc placed = Apply(AtPositions(CsrSpmm()), {"PlaceInit"});
  EXPECT_TRUE(HasAll(Body(placed), {"for k_init in range(T.int64(4)):\n            C[vi, k_init] = T.float32(0.0)"}));
  EXPECT_FALSE(HasInit(placed));
}

TEST(PlaceInit, TheCopyKeepsTheKindOfItsLoop) {
  PrimFunc placed = Apply(WithKind(AtPositions(CsrSpmm()), "k", kVectorized), {"PlaceInit"});
  EXPECT_TRUE(HasAll(Body(placed), {"for k_init in T.vectorized(T.int64(4)):", "for k in T.vectorized(T.int64(4)):"}));
}

TEST(PlaceInit, AReductionAcrossThreadsKeepsItsInit) {
  EXPECT_TRUE(HasInit(Apply(WithKind(AtPositions(RowSum()), "j", kThreadBinding), {"PlaceInit"})));
  EXPECT_FALSE(HasInit(Apply(WithKind(AtPositions(RowSum()), "i", kThreadBinding), {"PlaceInit"})));
}

TEST(PlaceInit, TheBlockReadsWhatItWritesFromThenOn) {
  SBlock before = Collect<SBlock>(AtPositions(RowSum()).body()).back();
  SBlock after = Collect<SBlock>(Apply(AtPositions(RowSum()), {"PlaceInit"}).body()).back();
  EXPECT_EQ(after.reads().size(), before.reads().size() + 1);
}

TEST(PlaceInit, RefusesAStoreThatAnOuterReductionRepeats) {
  PrimFunc overwriting = RewriteNests(
      AtPositions(RowSum()),
      [](const SBlockRealize& r, const Nest&) -> Stmt {
        if (r.block().name_hint() != "row_sum") return r;
        BufferStore store = r.block().body().as<BufferStore>().value();
        BlockChange change;
        change.init = Optional<Stmt>(std::nullopt);
        change.body = MakeBlock("inner", {}, {}, std::nullopt, Store(store.buffer(), Number(1), store.indices()), {});
        return WithBlock(r, change);
      },
      KeepLoop);
  EXPECT_TRUE(Refuses([&] { Apply(overwriting, {"PlaceInit"}); },
                      {"[ST422] block `inner`", "at every step of an outer reduction"}));
}

TEST(PlaceInit, ASecondTimeItChangesNothing) {
  PrimFunc once = Apply(AtPositions(CsrSpmm()), {"PlaceInit"});
  EXPECT_TRUE(SameExpr(Apply(once, {"PlaceInit"}), once));
}
}  // namespace testing
}  // namespace sparse_tir
