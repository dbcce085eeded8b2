// The stores of an outermost iteration, with the way to each.
#include "analysis/sites.h"

#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
using Path = std::vector<size_t>;

// for i: C[i] = 0; for k: init T[i, k] = 0; T[i, k] = 1
class SitesTest : public ::testing::Test {
 protected:
  FunctionBuilder f_;
  Var m_ = f_.Size("m");
  Axis I_ = DenseFixed("I", m_), K_ = DenseFixed("K", m_);
  Var C_ = f_.Values("C", {I_}), T_ = f_.Values("T", {I_, K_});
  Var i_ = Iterators({I_})[0], k_ = Iterators({K_})[0];
  Stmt inner_ =
      f_.Iteration({"inner", {K_}, "S", {k_}}, Store(T_, Number(1), {i_, k_}), Store(T_, Number(0), {i_, k_}));
  Stmt outer_ = f_.Iteration({"outer", {I_}, "S", {i_}}, MakeSeq({Store(C_, Number(0), {i_}), inner_}));
  Scope scope_ = Scope().Enter(IterationOf(outer_.as<SBlockRealize>().value()).value());
};
}  // namespace

TEST_F(SitesTest, StoresCarryThePathToThem) {
  std::vector<Site> stores = StoresOf(scope_);
  ASSERT_EQ(stores.size(), 2);
  EXPECT_EQ(stores[0].path, (Path{0}));
  EXPECT_EQ(stores[1].path, (Path{1, 0}));
  EXPECT_TRUE(stores[1].store.buffer().same_as(T_));
  EXPECT_EQ(stores[1].scope.depth(), 2);
  EXPECT_EQ(InnermostCommon(stores[0], stores[1]), 0);
}

TEST_F(SitesTest, StartsAreApartFromStores) {
  std::vector<Site> starts = StartsOf(scope_);
  ASSERT_EQ(starts.size(), 1);
  EXPECT_TRUE(starts[0].store.buffer().same_as(T_));
  EXPECT_EQ(starts[0].store.value().as<FloatImm>().value().value(), 0);
}

TEST_F(SitesTest, OnlyTheElementOfItsOwnInitHasAStart) {
  std::vector<Site> stores = StoresOf(scope_);
  EXPECT_FALSE(HasStart(stores[0]));
  EXPECT_TRUE(HasStart(stores[1]));
}

TEST_F(SitesTest, AnIteratorMustStandInOnePlaceOfBoth) {
  EXPECT_TRUE(ContainsInOnePlace(i_, {i_, k_}, {i_, m_}));
  EXPECT_FALSE(ContainsInOnePlace(i_, {i_, k_}, {k_, i_}));
}
}  // namespace testing
}  // namespace sparse_tir
