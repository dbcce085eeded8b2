// Traversals, substitution and the analyser.
#include "programs.h"

namespace sparse_tir {
namespace testing {
TEST(Visit, CollectsNodesOfOneKindInPreOrder) {
  Var x = MakeVar("x", Int(32)), y = MakeVar("y", Int(32));
  std::vector<Var> found = Collect<Var>(x * y + x);
  ASSERT_EQ(found.size(), 3);
  EXPECT_TRUE(found[0].same_as(x));
  EXPECT_TRUE(found[1].same_as(y));
  EXPECT_TRUE(found[2].same_as(x));
}

TEST(Visit, MentionsFindsAVariableInsideOfALoad) {
  Var x = MakeVar("x", Int(32)), y = MakeVar("y", Int(32));
  Expr load = Load(MakeBuffer("B", Int(32), {Int64(4)}), {x});
  EXPECT_TRUE(Mentions(load, {x.get()}));
  EXPECT_FALSE(Mentions(load, {y.get()}));
}

TEST(Visit, SubstitutesByIdentityAndNotByName) {
  Var x = MakeVar("x", Int(32)), twin = MakeVar("x", Int(32)), y = MakeVar("y", Int(32));
  Expr replaced = Substitute(x + twin, {{x.get(), y}});
  EXPECT_TRUE(replaced.as<Add>().value().a().same_as(y));
  EXPECT_TRUE(replaced.as<Add>().value().b().same_as(twin));
}

TEST(Visit, SubstitutionLeavesItsArgumentAlone) {
  Var x = MakeVar("x", Int(32)), y = MakeVar("y", Int(32));
  Expr sum = x + IntLit(1, Int(32));
  Substitute(sum, {{x.get(), y}});
  EXPECT_TRUE(sum.as<Add>().value().a().same_as(x));
}

TEST(Visit, SameIndicesComparesPlaceByPlace) {
  Var x = MakeVar("x", Int(32)), y = MakeVar("y", Int(32));
  Expr one = IntLit(1, Int(32));
  EXPECT_TRUE(SameIndices({x + one, y}, {x + one, y}));
  EXPECT_FALSE(SameIndices({x, y}, {y, x}));
  EXPECT_FALSE(SameIndices({x}, {x, y}));
}

TEST(Visit, MutateDefaultReachesTheChildren) {
  Var x = MakeVar("x", Int(32)), y = MakeVar("y", Int(32));
  Expr mutated =
      ffi::StructuralMutate(
          x + IntLit(1, Int(32)),
          [](const Add& n, ffi::StructuralMutatorObj* m) -> ffi::Expected<Any> { return MutateDefault(n, m); },
          [&](const Var&, ffi::StructuralMutatorObj*) -> ffi::Expected<Any> { return Any(y); })
          .cast<Expr>();
  EXPECT_TRUE(mutated.as<Add>().value().a().same_as(y));
}

TEST(Visit, TheAnalyserProvesWhatTheRangeOfAVariableSays) {
  Var x = MakeVar("x", Int(64));
  Analyzer analyzer;
  EXPECT_FALSE(analyzer.CanProve(x < Int64(8)));
  analyzer.Bind(x, MakeRange(Int64(0), Int64(8)));
  EXPECT_TRUE(analyzer.CanProve(x < Int64(8)));
  EXPECT_FALSE(analyzer.CanProve(x < Int64(7)));
  ConstIntBound bound = analyzer.BoundOf(x * Int64(3));
  EXPECT_EQ(bound.min_value(), 0);
  EXPECT_EQ(bound.max_value(), 21);
}
}  // namespace testing
}  // namespace sparse_tir
