// LowerSparseBuffer: the parameters become value arrays.
#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
Var Parameter(const PrimFunc& f, const std::string& name) {
  for (const Var& p : f.params()) {
    if (p.name() == name) return p;
  }
  Bug("no parameter " + name);
}
}  // namespace

TEST(LowerSparseBuffer, AMatrixBecomesItsValueArray) {
  PrimFunc before = Apply(CsrSpmm(), {"LowerSparseIter"}), after = Apply(before, {"LowerSparseBuffer"});
  EXPECT_EQ(BufferTypeOf(Parameter(before, "A")).shape().size(), 2);
  Array<Expr> shape = BufferTypeOf(Parameter(after, "A")).shape();
  ASSERT_EQ(shape.size(), 1);
  EXPECT_TRUE(shape[0].same_as(Parameter(after, "nnz")));
  EXPECT_EQ(BufferTypeOf(Parameter(after, "B")).shape().size(), 2);
}

TEST(LowerSparseBuffer, TheOrderOfParametersStays) {
  PrimFunc before = CsrSpmm(), after = AtPositions(before);
  ASSERT_EQ(after.params().size(), before.params().size());
  for (size_t i = 0; i < before.params().size(); ++i) EXPECT_EQ(after.params()[i].name(), before.params()[i].name());
}

TEST(LowerSparseBuffer, TheBodyUsesOnlyTheNewParameters) {
  PrimFunc f = AtPositions(CsrSpmm());
  VarSet params;
  for (const Var& p : f.params()) params.insert(p.get());
  for (const TensorLoad& load : Collect<TensorLoad>(f.body())) EXPECT_TRUE(params.count(load.source().get()));
  for (const BufferStore& store : Collect<BufferStore>(f.body())) EXPECT_TRUE(params.count(store.buffer().get()));
}

TEST(LowerSparseBuffer, NoAttributeOfTheWayIsLeft) {
  EXPECT_TRUE(GetAttr(Apply(CsrSpmm(), {"LowerSparseIter"}), names::kStorage).has_value());
  EXPECT_FALSE(GetAttr(AtPositions(CsrSpmm()), names::kStorage).has_value());
}

TEST(LowerSparseBuffer, EveryBlockKnowsWhatItReadsAndWrites) {
  for (const SBlock& block : Collect<SBlock>(AtPositions(CsrSpmm()).body())) {
    if (block.name_hint() == "root") continue;
    EXPECT_FALSE(block.reads().empty()) << block.name_hint();
    EXPECT_FALSE(block.writes().empty()) << block.name_hint();
  }
}
}  // namespace testing
}  // namespace sparse_tir
