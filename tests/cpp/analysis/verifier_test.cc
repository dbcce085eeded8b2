// The laws: for each, a program that breaks it and its neighbour that does not.
#include "analysis/verifier.h"

#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
class LawTest : public ::testing::Test {
 protected:
  std::string Verdict(const Array<Stmt>& iterations) {
    return ErrorOf([&] { Verify(f_.Finish(iterations)); });
  }
  Stmt Over(const char* kinds, const Stmt& body, const Optional<Stmt>& init = std::nullopt) {
    return f_.Iteration({"it", {a_.I, a_.J}, kinds, {a_.i, a_.j}}, body, init);
  }
  Stmt Rows(const Stmt& body, const Optional<Stmt>& init = std::nullopt) {
    return f_.Iteration({"rows", {a_.I}, "S", {a_.i}}, body, init);
  }
  // Y[j] = Y[j] + A[i, j] of a matrix whose columns may repeat in a row.
  std::string Scattered(const char* kinds) {
    FunctionBuilder f;
    Order repeated;
    repeated.unique = false;
    Csr a(&f, repeated);
    Var Y = f.Values("Y", {DenseFixed("D", a.n)});
    Stmt sum = Store(Y, Load(Y, {a.j}) + Load(a.A, {a.i, a.j}), {a.j});
    return ErrorOf([&] { Verify(f.Finish({f.Iteration({"it", {a.I, a.J}, kinds, {a.i, a.j}}, sum)})); });
  }
  // C[i] = C[i] + A[i, d] over full rows.
  std::string Searched(bool unique) {
    FunctionBuilder f;
    Order order;
    order.unique = unique;
    Csr a(&f, order);
    Axis D = DenseFixed("D", a.n);
    Var C = f.Values("C", {a.I}), d = Iterators({D})[0];
    Stmt sum = Store(C, Load(C, {a.i}) + Load(a.A, {a.i, d}), {a.i});
    return ErrorOf([&] { Verify(f.Finish({f.Iteration({"it", {a.I, D}, "SR", {a.i, d}}, sum)})); });
  }
  Stmt Put(const Var& buffer, const Array<Expr>& indices) { return Store(buffer, Number(1), indices); }
  Stmt Add(const Var& buffer, const Array<Expr>& indices, const Expr& value) {
    return Store(buffer, Load(buffer, indices) + value, indices);
  }

  FunctionBuilder f_;
  Csr a_{&f_};
  Axis D_ = DenseFixed("D", a_.n);
  Var C_ = f_.Values("C", {a_.I}), E_ = f_.Values("E", {a_.I}), Y_ = f_.Values("Y", {D_});
  Var d_ = Iterators({D_})[0];
  Expr value_ = Load(a_.A, {a_.i, a_.j});
  const std::string legal_;
};
}  // namespace

TEST_F(LawTest, ST204ToST207TheHeader) {
  auto over = [&](const std::vector<Axis>& axes, const char* kinds) {
    return Verdict({f_.Iteration({"it", axes, kinds, Iterators(axes)}, Put(C_, {IntLit(0, Int(32))}))});
  };
  EXPECT_TRUE(HasAll(over({a_.I, a_.I}, "SS"), {"ScriptError", "[ST206] it", "axis `I` twice"}));
  EXPECT_TRUE(HasAll(over({a_.J, a_.I}, "SS"), {"ScriptError", "[ST207] it", "axis `J` without its parent axis `I`"}));
  EXPECT_EQ(Verdict({Over("SS", Put(a_.A, {a_.i, a_.j}))}), legal_);
}

TEST_F(LawTest, ST208OnlyStoresAndIterations) {
  Stmt branch = MakeIf(a_.i < a_.j, Put(C_, {a_.i}));
  EXPECT_TRUE(HasAll(Verdict({Rows(branch)}), {"[ST208]", "a branch (if)"}));
  EXPECT_TRUE(HasAll(Verdict({Put(C_, {IntLit(0, Int(32))})}), {"[ST208] function", "outside of an iteration"}));
  EXPECT_EQ(Verdict({Rows(Put(C_, {a_.i}))}), legal_);
}

TEST_F(LawTest, ST208NothingOfTVMsScriptAroundTheBody) {
  SBlockRealize carrier = Rows(Put(C_, {a_.i})).as<SBlockRealize>().value();
  Stmt conditional = MakeRealize(carrier.iter_values(), a_.m < a_.n, carrier.block());
  EXPECT_TRUE(HasAll(Verdict({conditional}), {"[ST208] rows", "a condition (T.where)"}));
}

TEST_F(LawTest, ST210OnlyFunctionsOfValues) {
  auto called = [&](const char* name) {
    auto op = Call<Expr>(ST_GLOBAL("ir.GetOp"), name);
    Expr call =
        Call<Expr>(ST_GLOBAL("ir.Call"), Float(), op, Array<Expr>{Load(E_, {a_.i})}, nullptr, Array<Type>(), nullptr);
    return Verdict({Rows(Store(C_, call, {a_.i}))});
  };
  EXPECT_TRUE(HasAll(called("tirx.address_of"), {"[ST210] rows"}));
  EXPECT_EQ(called("tirx.exp"), legal_);
}

TEST_F(LawTest, ST401ARepeatedCoordinateIsScattered) {
  EXPECT_TRUE(HasAll(Scattered("SS"), {"LegalityError", "[ST401] it", "axis `J` may hold a coordinate twice"}));
  EXPECT_EQ(Scattered("RR"), legal_);
}

TEST_F(LawTest, ST402ASearchNeedsAUniqueAxis) {
  EXPECT_TRUE(HasAll(Searched(false), {"[ST402] it", "A[i, d] searches axis `J`"}));
  EXPECT_EQ(Searched(true), legal_);
}

TEST_F(LawTest, ST403AStoredElementIsWrittenByItsOwnIterator) {
  Stmt other = f_.Iteration({"it", {a_.I, D_}, "SS", {a_.i, d_}}, Put(a_.A, {a_.i, d_}));
  EXPECT_TRUE(HasAll(Verdict({other}), {"[ST403] it", "d is not the iterator of axis `J`"}));
  EXPECT_EQ(Verdict({Over("SS", Put(a_.A, {a_.i, a_.j}))}), legal_);
}

TEST_F(LawTest, ST404AReductionSelectsNoStoredElement) {
  Stmt sum = Add(a_.A, {a_.i, a_.j}, Number(1));
  EXPECT_TRUE(HasAll(Verdict({Over("SR", sum)}), {"[ST404] it", "R axis `J`"}));
  EXPECT_EQ(Verdict({Over("SS", sum)}), legal_);
}

TEST_F(LawTest, ST405AWriteCanBeInRange) {
  EXPECT_TRUE(HasAll(Verdict({Rows(Put(C_, {a_.i + a_.m}))}), {"[ST405] rows", "always outside of axis `I`"}));
  EXPECT_EQ(Verdict({Rows(Put(C_, {a_.i + IntLit(1, Int(32))}))}), legal_) << "outside for the last row only";
}

TEST_F(LawTest, ST406AnInitIsSelectedByWhatIsAroundIt) {
  Axis O = DenseFixed("O", a_.n);
  Stmt sum = Over("RR", Add(Y_, {a_.j}, value_), Put(Y_, {a_.j}));
  Stmt nested = f_.Iteration({"outer", {O}, "R", Iterators({O})}, sum);
  EXPECT_TRUE(HasAll(Verdict({nested}), {"[ST406] it", "under `o`, which does not select it"}));
  EXPECT_EQ(Verdict({sum}), legal_);
}

TEST_F(LawTest, ST407AnInitStartsTheElementOfTheBody) {
  Stmt sum = Add(C_, {a_.i}, value_);
  EXPECT_TRUE(HasAll(Verdict({Over("SR", sum, Put(E_, {a_.i}))}), {"[ST407] it", "init of E[i]"}));
  EXPECT_TRUE(HasAll(Verdict({Over("SR", sum, Store(C_, value_, {a_.i}))}), {"[ST407] it", "depends on `j`"}));
  EXPECT_TRUE(HasAll(Verdict({Over("SR", sum, MakeSeq({Put(C_, {a_.i}), Put(C_, {a_.i})}))}), {"started twice"}));
  EXPECT_EQ(Verdict({Over("SR", sum, Store(C_, Load(E_, {a_.i}), {a_.i}))}), legal_);
}

TEST_F(LawTest, ST408SpatialPositionsWriteDifferentElements) {
  Stmt sum = Add(C_, {a_.i}, value_);
  EXPECT_TRUE(HasAll(Verdict({Over("SS", sum)}), {"[ST408] it", "spatial axis `J`", "C[i]"}));
  EXPECT_EQ(Verdict({Over("SR", sum)}), legal_);
}

TEST_F(LawTest, ST408AlsoBetweenTwoStatements) {
  Expr next = a_.i + IntLit(1, Int(32));
  EXPECT_TRUE(
      HasAll(Verdict({Rows(MakeSeq({Put(C_, {a_.i}), Put(C_, {next})}))}), {"[ST408] rows", "C[i] and C[i + 1]"}));
  Expr even = a_.i * IntLit(2, Int(32)), odd = even + IntLit(1, Int(32));
  EXPECT_EQ(Verdict({Rows(MakeSeq({Put(C_, {even}), Put(C_, {odd})}))}), legal_) << "these never meet";
  EXPECT_EQ(Verdict({Rows(Put(C_, {a_.i})), Rows(Put(C_, {next}))}), legal_) << "one iteration after the other";
}

TEST_F(LawTest, ST409AReductionFolds) {
  EXPECT_TRUE(HasAll(Verdict({Over("SR", Store(C_, value_, {a_.i}))}), {"[ST409] it", "C[i] = A[i, j]"}));
  EXPECT_EQ(Verdict({Over("SR", Store(C_, Maximum(Load(C_, {a_.i}), value_), {a_.i}))}), legal_);
}

TEST_F(LawTest, ST409StatementsThatMeetFoldByOneCombiner) {
  Stmt sum = Add(C_, {a_.i}, value_), most = Store(C_, Maximum(Load(C_, {a_.i}), value_), {a_.i});
  EXPECT_TRUE(HasAll(Verdict({Over("SR", MakeSeq({sum, most}))}), {"[ST409] it", "by sum and by max"}));
  EXPECT_EQ(Verdict({Over("SR", MakeSeq({sum, sum}))}), legal_);
}

TEST_F(LawTest, ST410AReadHasADefinedValue) {
  Stmt write = Put(C_, {a_.i}), read = Store(E_, Load(C_, {a_.i}), {a_.i});
  EXPECT_TRUE(HasAll(Verdict({Rows(MakeSeq({write, read}))}), {"[ST410] rows", "a read of C[i]"}));
  EXPECT_EQ(Verdict({Rows(write), Rows(read)}), legal_) << "in a later outermost iteration";
  Stmt inner = f_.Iteration({"inner", {a_.J}, "R", {a_.j}}, Add(E_, {a_.i}, Load(C_, {a_.i}) * value_));
  EXPECT_EQ(Verdict({Rows(MakeSeq({write, inner}))}), legal_) << "by a later inner iteration";
  EXPECT_TRUE(HasAll(Verdict({Rows(MakeSeq({inner, write}))}), {"[ST410] inner"}));
}

TEST_F(LawTest, ST411OnlySparseBuffers) {
  Expr start = CastTo(Load(a_.indptr, {a_.i}), DLDataType{kDLFloat, 32, 1});
  EXPECT_TRUE(HasAll(Verdict({Rows(Store(C_, start, {a_.i}))}), {"[ST411] rows", "a load of indptr"}));
  Stmt write = Store(a_.indices, IntLit(0, Int(32)), {a_.i});
  EXPECT_TRUE(HasAll(Verdict({Rows(write)}), {"[ST411] rows", "a write to indices"}));
}

TEST_F(LawTest, ST420OnlyTheCoordinateStage) {
  EXPECT_TRUE(Refuses([] { Verify(AtPositions(RowSum())); }, {"[ST420] verify", "stage \"position\""}));
  EXPECT_TRUE(Refuses([] { Verify(AtLoops(RowSum())); }, {"[ST420] verify", "a function without a stage"}));
}
}  // namespace testing
}  // namespace sparse_tir
