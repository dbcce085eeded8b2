// Integer divisions that do not trap.
#include "transform/divisions.h"

#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
class DivisionsTest : public ::testing::Test {
 protected:
  std::string Safe(const Expr& e) {
    held_ = 0;
    return Text(SafeDivisions(e, [this](const Expr& divisor) {
      ++held_;
      return divisor;
    }));
  }
  int held_ = 0;
  Var x_ = MakeVar("x", Int(64)), y_ = MakeVar("y", Int(64));
};
}  // namespace

TEST_F(DivisionsTest, ConstantsTrapOnlyAsZeroAndMinusOne) {
  EXPECT_TRUE(CannotTrap(Int64(7)));
  EXPECT_TRUE(CannotTrap(Int64(-2)));
  EXPECT_FALSE(CannotTrap(Int64(0)));
  EXPECT_FALSE(CannotTrap(Int64(-1)));
  EXPECT_FALSE(CannotTrap(y_));
}

TEST_F(DivisionsTest, AGuardedDivisorIsKnownAgain) {
  EXPECT_TRUE(CannotTrap(NonTrapping(y_)));
  EXPECT_FALSE(CannotTrap(MakeSelect(Equal(y_, Int64(0)), Int64(1), y_))) << "minus one gets through";
}

TEST_F(DivisionsTest, AnUnsignedDivisorTrapsOnlyOnZero) {
  Var u = MakeVar("u", MakePrimType(DLDataType{kDLUInt, 64, 1}));
  EXPECT_EQ(Collect<Or>(NonTrapping(u)).size(), 0);
  EXPECT_EQ(Collect<Or>(NonTrapping(y_)).size(), 1);
}

TEST_F(DivisionsTest, ADivisionByAConstantIsLeftAlone) {
  EXPECT_EQ(Safe(FloorDivide(x_, Int64(3))), "x // T.int64(3)");
}

TEST_F(DivisionsTest, AnUnknownDivisorIsGuardedAndTheQuotientCorrected) {
  std::string quotient = Safe(FloorDivide(x_, y_)), remainder = Safe(FloorModulo(x_, y_));
  EXPECT_NE(quotient.find("x // T.Select("), std::string::npos) << quotient;
  EXPECT_NE(quotient.find(" * T.Select("), std::string::npos) << quotient;
  EXPECT_NE(remainder.find("x % T.Select("), std::string::npos) << remainder;
  EXPECT_EQ(remainder.find(" * "), std::string::npos) << "x % 1 is 0 already";
  EXPECT_EQ(held_, 0);
}

TEST_F(DivisionsTest, ADivisorThatLoadsIsHeld) {
  Safe(FloorDivide(x_, Load(MakeBuffer("B", Int(64), {y_}), {x_})));
  EXPECT_EQ(held_, 1);
}
}  // namespace testing
}  // namespace sparse_tir
