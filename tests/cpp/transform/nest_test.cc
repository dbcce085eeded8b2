// Loops and blocks around a block.
#include "transform/nest.h"

#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
// The nest of the innermost block of SpMM: for i, block spmm_I, for j, for k, block spmm.
Nest InnermostNest() {
  Nest nest;
  RewriteNests(
      AtPositions(CsrSpmm()),
      [&](const SBlockRealize& r, const Nest& around) -> Stmt {
        if (r.block().name_hint() == "spmm") {
          nest = around;
          nest.push_back(r);
        }
        return r;
      },
      KeepLoop);
  return nest;
}
}  // namespace

TEST(NestTest, IsListedOutermostFirst) {
  Nest nest = InnermostNest();
  nest.erase(nest.begin());  // the root block
  ASSERT_EQ(nest.size(), 5);
  EXPECT_EQ(nest[0].as<For>().value().loop_var().name(), "i");
  EXPECT_EQ(nest[1].as<SBlockRealize>().value().block().name_hint(), "spmm_I");
  EXPECT_EQ(nest[2].as<For>().value().loop_var().name(), "j");
  EXPECT_EQ(nest[3].as<For>().value().loop_var().name(), "k");
}

TEST(NestTest, BindsBlockIteratorsToLoops) {
  std::vector<BoundIterator> bound = BoundIterators(InnermostNest());
  std::string text;
  for (const BoundIterator& it : bound) text += std::string(it.iter_var.var().name()) + "=" + Text(it.value) + " ";
  EXPECT_EQ(text, "vi=i vj=j vk=k ");
}

TEST(NestTest, OnlyTheReductionLoopReduces) {
  Nest nest = InnermostNest();
  VarSet reducing = ReducingVars(BoundIterators(nest));
  ASSERT_EQ(reducing.size(), 1);
  EXPECT_EQ(*reducing.begin(), nest[3].as<For>().value().loop_var().get());
}

TEST(NestTest, AParameterIsSeenByTheWholeNest) {
  EXPECT_EQ(ScopeDepth(InnermostNest(), AtPositions(CsrSpmm()).params().back()), 0);
}

TEST(NestTest, HooksGetTheChildrenDone) {
  std::string order;
  RewriteNests(
      AtPositions(RowSum()),
      [&](const SBlockRealize& r, const Nest&) -> Stmt {
        order += std::string(r.block().name_hint()) + " ";
        return r;
      },
      [&](const For& loop, const Nest&) -> Stmt {
        order += std::string(loop.loop_var().name()) + " ";
        return loop;
      });
  EXPECT_EQ(order, "row_sum j row_sum_I i root ");
}

TEST(NestTest, ReadsAndWritesHasBoth) {
  SBlock block = Collect<SBlock>(AtPositions(RowSum()).body()).back();
  EXPECT_EQ(ReadsAndWrites(block).size(), block.reads().size() + block.writes().size());
}
}  // namespace testing
}  // namespace sparse_tir
