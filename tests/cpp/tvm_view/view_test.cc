// Views read the fields of TVM's nodes, and match only the type that they name.
#include "programs.h"

namespace sparse_tir {
namespace testing {
TEST(View, ReadsTheFieldsOfAnExpression) {
  Var x = MakeVar("x", Int(32));
  Expr e = Call<Expr>(ST_GLOBAL("prim._OpAdd"), x, IntLit(3, Int(32)), nullptr);
  auto add = e.as<Add>();
  ASSERT_TRUE(add.has_value());
  EXPECT_TRUE(add.value().a().same_as(x));
  EXPECT_EQ(add.value().b().as<IntImm>().value().value(), 3);
  EXPECT_EQ(DTypeOf(e).bits, 32);
}

TEST(View, MatchesOnlyItsOwnType) {
  Expr e = MakeVar("x", Int(32)) + IntLit(3, Int(32));
  EXPECT_FALSE(e.as<Sub>().has_value());
  EXPECT_FALSE(e.as<Var>().has_value());
  EXPECT_TRUE(e.as<Expr>().has_value());
}

TEST(View, ReadsAStatementThatLacksItsOptionalParts) {
  Var buffer = MakeBuffer("B", Float(), {IntLit(4, Int(32))});
  Stmt store = Store(buffer, Number(1), {IntLit(0, Int(32))});
  auto branch = MakeIf(IntLit(1, Bool()), store).as<IfThenElse>().value();
  EXPECT_FALSE(branch.else_case().has_value());
  EXPECT_FALSE(branch.span().has_value());
  EXPECT_TRUE(branch.then_case().same_as(store));
}

TEST(View, ReadsTheTypeOfABuffer) {
  Var rows = MakeVar("m", Int(32));
  BufferType type = BufferTypeOf(MakeBuffer("B", Float(64), {rows}, /*alignment=*/8, "local"));
  EXPECT_EQ(type.dtype().dtype().bits, 64);
  EXPECT_EQ(type.storage_scope(), "local");
  ASSERT_EQ(type.shape().size(), 1);
  EXPECT_TRUE(type.shape()[0].same_as(rows));
}

TEST(View, ThrowsForAFunctionThatIsNotRegistered) {
  EXPECT_TRUE(Refuses([] { ST_GLOBAL("sparse_tir.no_such_function"); }, {"sparse_tir.no_such_function"}));
}
}  // namespace testing
}  // namespace sparse_tir
