// What all passes promise: the stages that they take, and that they change nothing but their result.
#include "transform/pass.h"

#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
using Names = std::vector<const char*>;
const Names kPipeline{"LowerSparseIter", "LowerSparseBuffer", "PlaceInit", "ExpandCombine", "LegalizeArithmetic"};

PrimFunc Before(size_t number, const PrimFunc& f) {
  return Apply(f, Names(kPipeline.begin(), kPipeline.begin() + number));
}
std::string Json(const PrimFunc& f) { return Call<String>(ST_GLOBAL("ffi.ToJSONGraphString"), f, nullptr); }
}  // namespace

TEST(Pass, RefusesAForeignStage) {
  struct Foreign {
    const char* pass;
    std::vector<size_t> passes_before;
  };
  const std::vector<Foreign> foreign{{"LowerSparseIter", {2, 5}},
                                     {"LowerSparseBuffer", {0, 2, 5}},
                                     {"PlaceInit", {0, 1, 5}},
                                     {"ExpandCombine", {0, 1, 5}},
                                     {"LegalizeArithmetic", {0, 1, 2, 3}}};
  for (const Foreign& f : foreign) {
    for (size_t number : f.passes_before) {
      EXPECT_TRUE(Refuses([&] { Apply(Before(number, CsrSpmm()), {f.pass}); }, {"LegalityError", "[ST420]", f.pass}))
          << f.pass << " after " << number << " passes";
    }
  }
}

TEST(Pass, GivesTheStageThatItPromises) {
  const std::vector<std::string> stages{"coordinate", "coordinate", "position", "position", "", ""};
  for (size_t number = 0; number <= kPipeline.size(); ++number) {
    EXPECT_EQ(StageOf(Before(number, CsrSpmm())), stages[number]) << number;
  }
}

TEST(Pass, LeavesItsArgumentUnchanged) {
  for (const PrimFunc& program : {RowSum(), CsrSpmm(), CooScatter()}) {
    for (size_t number = 0; number < kPipeline.size(); ++number) {
      PrimFunc argument = Before(number, program);
      std::string before = Json(argument);
      Apply(argument, {kPipeline[number]});
      EXPECT_EQ(Json(argument), before) << kPipeline[number];
    }
  }
}

TEST(Pass, GivesTheSameForTheSame) {
  EXPECT_TRUE(SameExpr(AtLoops(CsrSpmm()), AtLoops(CsrSpmm())));
  EXPECT_FALSE(SameExpr(AtLoops(CsrSpmm()), AtLoops(RowSum())));
}

TEST(Pass, IsRefusedASecondTimeWhereItsStageHasPassed) {
  PrimFunc once = Apply(CsrSpmm(), {"LowerSparseIter"});
  EXPECT_TRUE(Refuses([&] { Apply(once, {"LowerSparseIter"}); }, {"[ST208]", "outside of an iteration"}));
  EXPECT_TRUE(Refuses([] { Apply(AtPositions(CsrSpmm()), {"LowerSparseBuffer"}); }, {"[ST420]"}));
  PrimFunc expanded = Apply(AtPositions(CsrSpmm()), {"PlaceInit", "ExpandCombine"});
  EXPECT_TRUE(Refuses([&] { Apply(expanded, {"ExpandCombine"}); }, {"[ST420]"}));
}
}  // namespace testing
}  // namespace sparse_tir
