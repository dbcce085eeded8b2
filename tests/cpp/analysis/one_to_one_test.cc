// Law 3: which iterators a list of subscripts determines.
#include "analysis/one_to_one.h"

#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
class OneToOneTest : public ::testing::Test {
 protected:
  // The names of what is determined, of `i` in [0, m), `k` in [0, 8) and `d` in [0, t).
  std::string Of(const Array<Expr>& indices) {
    std::vector<RangedVar> vars{{i_, m_}, {k_, IntLit(8, Int(32))}, {d_, t_}};
    VarSet determined = Determined(indices, vars);
    std::string names;
    for (const RangedVar& r : vars) names += determined.count(r.var.get()) ? std::string(r.var.name()) : "";
    return names;
  }
  Expr Int32(int64_t v) { return IntLit(v, Int(32)); }
  Var m_ = MakeVar("m", Int(32)), t_ = MakeVar("t", Int(32));
  Var i_ = MakeVar("i", Int(32)), k_ = MakeVar("k", Int(32)), d_ = MakeVar("d", Int(32));
};
}  // namespace

TEST_F(OneToOneTest, AnIteratorDeterminesItself) {
  EXPECT_EQ(Of({i_, k_}), "ik");
  EXPECT_EQ(Of({i_ * Int32(2) + m_}), "i");
  EXPECT_EQ(Of({Int32(5) - i_}), "i");
  EXPECT_EQ(Of({CastTo(i_, DLDataType{kDLInt, 64, 1})}), "i");
}

TEST_F(OneToOneTest, SumsDetermineNothing) {
  EXPECT_EQ(Of({i_ + k_}), "");
  EXPECT_EQ(Of({i_ * i_}), "");
  EXPECT_EQ(Of({i_ * m_}), "") << "m may be 0";
}

TEST_F(OneToOneTest, DigitsOfAMixedRadixAreDetermined) {
  EXPECT_EQ(Of({i_ * Int32(8) + k_}), "ik");
  EXPECT_EQ(Of({i_ * Int32(7) + k_}), "") << "k reaches 7";
  EXPECT_EQ(Of({i_ * t_ + d_}), "id");
  EXPECT_EQ(Of({i_ * m_ + d_}), "") << "d does not stop at m";
}

TEST_F(OneToOneTest, AQuotientAndItsRemainderStandForTheDividend) {
  Expr four = Int32(4);
  EXPECT_EQ(Of({FloorDivide(i_, four), FloorModulo(i_, four)}), "i");
  EXPECT_EQ(Of({FloorDivide(i_, four), FloorModulo(i_, Int32(5))}), "");
  EXPECT_EQ(Of({FloorDivide(i_, four)}), "");
}

TEST_F(OneToOneTest, NarrowingLosesIt) { EXPECT_EQ(Of({CastTo(i_, DLDataType{kDLInt, 8, 1})}), ""); }

TEST_F(OneToOneTest, DataDeterminesNothing) {
  EXPECT_EQ(Of({Load(MakeBuffer("B", Int(32), {m_}), {i_})}), "");
  EXPECT_EQ(Of({i_ + Load(MakeBuffer("B", Int(32), {m_}), {k_})}), "");
}
}  // namespace testing
}  // namespace sparse_tir
