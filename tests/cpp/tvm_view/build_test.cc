// Builders: TVM's folding and promotion, copies with one change, attributes of functions.
#include "programs.h"

namespace sparse_tir {
namespace testing {
TEST(Build, OperatorsFoldConstants) {
  Expr two = IntLit(2, Int(32)), three = IntLit(3, Int(32));
  EXPECT_EQ((two * three).as<IntImm>().value().value(), 6);
  EXPECT_EQ(FloorDivide(IntLit(-7, Int(32)), two).as<IntImm>().value().value(), -4);
  EXPECT_EQ(FloorModulo(IntLit(-7, Int(32)), two).as<IntImm>().value().value(), 1);
  EXPECT_EQ((two < three).as<IntImm>().value().value(), 1);
}

TEST(Build, OperatorsPromoteToTheWiderInteger) {
  EXPECT_EQ(DTypeOf(MakeVar("x", Int(32)) + MakeVar("y", Int(64))).bits, 64);
}

TEST(Build, ACastToTheSameTypeIsTheExpressionItself) {
  Var x = MakeVar("x", Int(64));
  EXPECT_TRUE(CastTo(x, DLDataType{kDLInt, 64, 1}).same_as(x));
}

TEST(Build, ASequenceOfOneStatementIsThatStatement) {
  Stmt store = Store(MakeBuffer("B", Float(), {Int64(1)}), Number(1), {Int64(0)});
  EXPECT_TRUE(MakeSeq({store}).same_as(store));
  EXPECT_EQ(MakeSeq({store, store}).as<SeqStmt>().value().seq().size(), 2);
}

TEST(Build, ABlockIsCopiedWithOneChange) {
  SBlock block = Collect<SBlock>(AtPositions(RowSum()).body()).back();
  ASSERT_TRUE(block.init().has_value());
  BlockChange change;
  change.init = Optional<Stmt>(std::nullopt);
  SBlock copy = CopyBlock(block, change);
  EXPECT_FALSE(copy.init().has_value());
  EXPECT_TRUE(copy.body().same_as(block.body()));
  EXPECT_TRUE(copy.iter_vars().same_as(block.iter_vars()));
  EXPECT_TRUE(copy.reads().same_as(block.reads()));
  EXPECT_TRUE(copy.writes().same_as(block.writes()));
  EXPECT_EQ(copy.name_hint(), block.name_hint());
  EXPECT_TRUE(block.init().has_value());
}

TEST(Build, AnAttributeIsSetReadAndRemoved) {
  PrimFunc plain = RowSum(), marked = WithAttr(plain, "sparse_tir.test", String("value"));
  EXPECT_EQ(GetAttr(marked, "sparse_tir.test").value().cast<String>(), "value");
  EXPECT_FALSE(GetAttr(plain, "sparse_tir.test").has_value());
  EXPECT_FALSE(GetAttr(WithoutAttr(marked, "sparse_tir.test"), "sparse_tir.test").has_value());
}
}  // namespace testing
}  // namespace sparse_tir
