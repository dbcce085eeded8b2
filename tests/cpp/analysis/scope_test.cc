// What a statement sees, and what its subscripts select.
#include "analysis/scope.h"

#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
class ScopeTest : public ::testing::Test {
 protected:
  Scope Enter(const Header& header) {
    Stmt carrier = f_.Iteration(header, Store(C_, Number(0), {a_.i}));
    return Scope().Enter(IterationOf(carrier.as<SBlockRealize>().value()).value());
  }
  SparseBuffer BufferOf(const Scope& scope, const Var& v) { return scope.BufferOf(v).value(); }
  Expr Int32(int64_t v) { return IntLit(v, Int(32)); }

  FunctionBuilder f_;
  Csr a_{&f_};
  Axis D_ = DenseFixed("D", a_.n);
  Var C_ = f_.Values("C", {a_.I}), d_ = Iterators({D_})[0];
  Scope scope_ = Enter({"it", {a_.I, a_.J, D_}, "SRS", {a_.i, a_.j, d_}});
};
}  // namespace

TEST_F(ScopeTest, FindsIteratorsByVariableAndByAxis) {
  EXPECT_TRUE(scope_.IteratorIs(a_.j)->axis.same_as(a_.J));
  EXPECT_FALSE(scope_.IteratorIs(a_.j + Int32(1)).has_value());
  EXPECT_TRUE(scope_.IteratorOf(D_)->var.same_as(d_));
  EXPECT_FALSE(scope_.BufferOf(a_.indptr).has_value());
  EXPECT_TRUE(HasReduction(scope_.All()));
}

TEST_F(ScopeTest, ListsIteratorsOutermostFirst) {
  Axis E = DenseFixed("E", a_.n);
  Stmt carrier = f_.Iteration({"inner", {E}, "S", Iterators({E})}, Store(C_, Number(0), {a_.i}));
  Scope inner = scope_.Enter(IterationOf(carrier.as<SBlockRealize>().value()).value());
  EXPECT_EQ(inner.depth(), 2);
  EXPECT_EQ(inner.All().size(), 4);
  EXPECT_EQ(inner.Own().size(), 1);
  EXPECT_EQ(inner.Enclosing().size(), 3);
  EXPECT_EQ(inner.Enclosing()[0].var.name(), "i");
  EXPECT_EQ(scope_.depth(), 1) << "entering makes a new scope";
}

TEST_F(ScopeTest, AnOwnPositionNeedsNoSearch) {
  SparseBuffer A = BufferOf(scope_, a_.A);
  EXPECT_TRUE(scope_.IsOwnPosition(A, {a_.i, a_.j}, 1));
  EXPECT_FALSE(scope_.IsOwnPosition(A, {a_.i, d_}, 1)) << "a coordinate of another axis";
  EXPECT_FALSE(scope_.IsOwnPosition(A, {a_.i + Int32(1), a_.j}, 1)) << "under another parent";
}

TEST_F(ScopeTest, ProvesWhatIsInRange) {
  SparseBuffer C = BufferOf(scope_, C_);
  EXPECT_TRUE(scope_.IsInRange(C, {a_.i}, 0));
  EXPECT_FALSE(scope_.IsInRange(C, {a_.i + Int32(1)}, 0));
  EXPECT_FALSE(scope_.IsInRange(C, {a_.j}, 0)) << "a coordinate of n columns";
}

TEST_F(ScopeTest, ProvesWhatIsAlwaysOutOfRange) {
  SparseBuffer C = BufferOf(scope_, C_);
  EXPECT_TRUE(scope_.IsOutOfRange(C, {Int32(-1)}, 0));
  EXPECT_TRUE(scope_.IsOutOfRange(C, {a_.i + a_.m}, 0));
  EXPECT_FALSE(scope_.IsOutOfRange(C, {a_.i - Int32(1)}, 0));
}

TEST_F(ScopeTest, AnIteratorWithoutANameIsNamedByItsAxis) {
  EXPECT_EQ(NameOf({a_.i, a_.I, false}), "`i`");
  EXPECT_EQ(NameOf({MakeVar("", Int(32)), a_.I, false}), "the iterator of axis `I`");
}
}  // namespace testing
}  // namespace sparse_tir
