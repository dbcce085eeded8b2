// Subscripts are redone in int64, as far as that gives the same integer.
#include "analysis/index.h"

#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
class IndexTest : public ::testing::Test {
 protected:
  // Leaves are counted, and cast.
  std::string Widened(const Expr& e) {
    leaves_ = 0;
    Expr wide = WidenIndex(e, [this](const Expr& leaf) {
      ++leaves_;
      return CastTo(leaf, DLDataType{kDLInt, 64, 1});
    });
    EXPECT_EQ(DTypeOf(wide).bits, 64);
    return Text(wide);
  }
  int leaves_ = 0;
  Var a_ = MakeVar("a", Int(32)), b_ = MakeVar("b", Int(32)), wide_ = MakeVar("w", Int(64));
};
}  // namespace

TEST_F(IndexTest, ArithmeticOfSignedIntegersIsWidened) {
  EXPECT_EQ(Widened(a_ * b_ + IntLit(1, Int(32))), "T.Cast(\"int64\", a) * T.Cast(\"int64\", b) + T.int64(1)");
  EXPECT_EQ(leaves_, 2);
  EXPECT_EQ(Widened(FloorDivide(a_, IntLit(3, Int(32)))), "T.Cast(\"int64\", a) // T.int64(3)");
  EXPECT_EQ(Widened(FloorModulo(a_, IntLit(3, Int(32)))), "T.Cast(\"int64\", a) % T.int64(3)");
}

TEST_F(IndexTest, WideningCastsAreLookedThrough) {
  EXPECT_EQ(Widened(CastTo(a_ - b_, DLDataType{kDLInt, 64, 1})), "T.Cast(\"int64\", a) - T.Cast(\"int64\", b)");
}

TEST_F(IndexTest, WhatMayWrapIsALeaf) {
  Var u = MakeVar("u", MakePrimType(DLDataType{kDLUInt, 32, 1}));
  Widened(u + u);
  EXPECT_EQ(leaves_, 1) << "unsigned sums wrap";
  Widened(CastTo(wide_ + wide_, DLDataType{kDLInt, 32, 1}));
  EXPECT_EQ(leaves_, 1) << "a narrowing cast wraps";
}
}  // namespace testing
}  // namespace sparse_tir
