// The typed view of the block that carries an iteration.
#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
SBlockRealize CarrierOf(const PrimFunc& f) { return OutermostStatements(f)[0].as<SBlockRealize>().value(); }
}  // namespace

TEST(SparseIteration, IsReadFromItsCarrier) {
  SparseIteration spmm = IterationOf(CarrierOf(CsrSpmm())).value();
  EXPECT_EQ(spmm.name, "spmm");
  ASSERT_EQ(spmm.iterators.size(), 3);
  EXPECT_EQ(spmm.iterators[1].var.name(), "j");
  EXPECT_EQ(spmm.iterators[1].axis->name, "J");
  EXPECT_FALSE(spmm.iterators[0].is_reduction);
  EXPECT_TRUE(spmm.iterators[1].is_reduction);
  EXPECT_FALSE(spmm.iterators[2].is_reduction);
  EXPECT_EQ(spmm.buffers.size(), 3);
  EXPECT_TRUE(spmm.init.has_value());
  EXPECT_TRUE(spmm.body.as<BufferStore>().has_value());
}

TEST(SparseIteration, IsNotFoundInAnOrdinaryBlock) {
  for (const SBlockRealize& realize : Collect<SBlockRealize>(AtPositions(CsrSpmm()).body())) {
    EXPECT_FALSE(IterationOf(realize).has_value());
  }
}

TEST(SparseIteration, RefusesAnAxisTooMany) {
  SBlockRealize carrier = CarrierOf(RowSum());
  Map<String, Any> annotations = carrier.block().annotations();
  Array<Axis> axes = annotations.at(names::kAxes).cast<Array<Axis>>();
  axes.push_back(axes[0]);
  annotations.Set(names::kAxes, axes);
  BlockChange change;
  change.annotations = annotations;
  Stmt wrong = MakeRealize(carrier.iter_values(), carrier.predicate(), CopyBlock(carrier.block(), change));
  EXPECT_TRUE(Refuses([&] { IterationOf(wrong.as<SBlockRealize>().value()); },
                      {"ScriptError", "[ST204] row_sum", "3 axes", "2, one for each iterator"}));
}

TEST(SparseIteration, StatementsAreFlatAndInOrder) {
  Var buffer = MakeBuffer("B", Float(), {Int64(3)});
  std::vector<Stmt> stores;
  for (int64_t i = 0; i < 3; ++i) stores.push_back(Store(buffer, Number(1), {Int64(i)}));
  std::vector<Stmt> found = Statements(MakeSeq({stores[0], MakeSeq({stores[1], stores[2]})}));
  ASSERT_EQ(found.size(), 3);
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(found[i].same_as(stores[i]));
}

TEST(SparseIteration, AProgramSurvivesJson) {
  PrimFunc f = CsrSpmm();
  String json = Call<String>(ST_GLOBAL("ffi.ToJSONGraphString"), f, nullptr);
  PrimFunc read = Call<PrimFunc>(ST_GLOBAL("ffi.FromJSONGraphString"), json);
  EXPECT_TRUE(SameExpr(read, f));
  EXPECT_TRUE(SameExpr(AtLoops(read), AtLoops(f)));
}
}  // namespace testing
}  // namespace sparse_tir
