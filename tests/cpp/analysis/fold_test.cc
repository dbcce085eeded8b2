// Which statements fold, by which combiner, and what they contribute.
#include "analysis/fold.h"

#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
class FoldTest : public ::testing::Test {
 protected:
  std::optional<Fold> Match(const Expr& value) { return MatchFold(Store(y_, value, {i_}).as<BufferStore>().value()); }
  std::string Found(const Expr& value) {
    auto fold = Match(value);
    return fold ? fold->combiner + " " + Text(fold->contribution) : "none";
  }
  Expr Product(const Expr& a, const Expr& b) { return Call<Expr>(ST_GLOBAL("prim.Mul"), a, b, nullptr); }

  Var i_ = MakeVar("i", Int(32)), y_ = MakeBuffer("Y", Float(), {MakeVar("n", Int(32))});
  Expr old_ = Load(y_, {i_}), other_ = Load(y_, {i_ + IntLit(1, Int(32))});
  Var a_ = MakeVar("a", Float()), b_ = MakeVar("b", Float());
};
}  // namespace

TEST_F(FoldTest, KnowsFourCombiners) {
  EXPECT_EQ(Found(old_ + a_), "sum a");
  EXPECT_EQ(Found(Product(old_, a_)), "prod a");
  EXPECT_EQ(Found(Maximum(old_, a_)), "max a");
  EXPECT_EQ(Found(Minimum(a_, old_)), "min a");
}

TEST_F(FoldTest, FindsTheElementAnywhereInASum) {
  EXPECT_EQ(Found(a_ + old_ - b_), "sum a - b");
  EXPECT_EQ(Found((a_ - b_) + old_), "sum a - b");
  EXPECT_EQ(Found(old_ - a_), "sum T.float32(0.0) - a");
}

TEST_F(FoldTest, RefusesWhatIsNoneOfTheLanguage) {
  EXPECT_EQ(Found(a_), "none");
  EXPECT_EQ(Found(a_ - old_), "none") << "the element is subtracted";
  EXPECT_EQ(Found(old_ + old_), "none") << "the element occurs twice";
  EXPECT_EQ(Found(other_ + a_), "none") << "another element";
  EXPECT_EQ(Found(old_ + a_ * other_), "none") << "the contribution reads the buffer";
  EXPECT_EQ(Found(Product(old_ + a_, b_)), "none") << "a mixture of combiners";
}

TEST_F(FoldTest, TheIdentityIsThatOfTheCombinerAndTheType) {
  EXPECT_EQ(Text(IdentityOf("sum", Float())), "T.float32(0.0)");
  EXPECT_EQ(Text(IdentityOf("prod", Int(32))), "1");
  EXPECT_EQ(Text(IdentityOf("max", Float())), "T.float32(\"-inf\")");
  EXPECT_EQ(Text(IdentityOf("min", Int(32))), "2147483647");
}

TEST_F(FoldTest, AProductWithAConstantZeroIsKept) {
  EXPECT_TRUE(Combine("prod", a_, Number(0)).as<Mul>().has_value());
  EXPECT_TRUE(Refuses([&] { Combine("xor", a_, b_); }, {"[ST900]", "no combiner `xor`"}));
}
}  // namespace testing
}  // namespace sparse_tir
