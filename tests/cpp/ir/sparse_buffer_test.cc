// Sparse buffers: layouts of value arrays, those that there are not, equality and JSON.
#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
class SparseBufferTest : public ::testing::Test {
 protected:
  SparseBuffer Over(const Array<Axis>& axes) {
    Array<Expr> shape;
    for (const Axis& a : axes) shape.push_back(a->length);
    return MakeSparseBuffer(MakeBuffer("V", Float(), shape), axes);
  }
  std::vector<std::string> Shape(const Array<Axis>& axes) {
    std::vector<std::string> text;
    for (const StorageDim& d : StorageLayout(Over(axes))) text.push_back(Text(d.extent));
    return text;
  }
  std::string Refusal(const Array<Axis>& axes) {
    return ErrorOf([&] { Over(axes); });
  }

  Var m_ = MakeVar("m", Int(32)), n_ = MakeVar("n", Int(32)), nnz_ = MakeVar("nnz", Int(32));
  Var width_ = MakeVar("w", Int(32)), array_ = MakeBuffer("array", Int(32), {nnz_});
  Axis I_ = DenseFixed("I", m_), K_ = DenseFixed("K", n_), J_ = SparseVariable("J", I_, n_, nnz_, array_, array_);
};
using Texts = std::vector<std::string>;
}  // namespace

TEST_F(SparseBufferTest, OfDenseAxesHasADimensionForEach) { EXPECT_EQ(Shape({I_, K_}), (Texts{"m", "n"})); }
TEST_F(SparseBufferTest, OfAVariableAxisHasOneForTheChain) {
  EXPECT_EQ(Shape({I_, J_}), (Texts{"nnz"}));
  EXPECT_EQ(Shape({I_, J_, K_}), (Texts{"nnz", "n"}));
}
TEST_F(SparseBufferTest, OfAFixedWidthKeepsTheDimensionOfTheParent) {
  EXPECT_EQ(Shape({I_, SparseFixed("E", I_, n_, width_, array_)}), (Texts{"m", "w"}));
}

TEST_F(SparseBufferTest, RefusesAChildWithoutItsParent) {
  std::string error = Refusal({J_});
  EXPECT_TRUE(HasAll(error, {"ScriptError", "[ST203] V", "axis `J` without its parent axis `I`"}));
  EXPECT_EQ(Refusal({J_, I_}), error);
}
TEST_F(SparseBufferTest, RefusesAnAxisTwice) { EXPECT_TRUE(HasAll(Refusal({I_, I_}), {"[ST203]", "axis `I` twice"})); }
TEST_F(SparseBufferTest, RefusesAVariableAxisApartFromItsParent) {
  EXPECT_TRUE(HasAll(Refusal({I_, K_, J_}), {"[ST203]", "variable axis `J` separated from its parent"}));
}

TEST_F(SparseBufferTest, DiffersByItsDefaultValue) {
  Var v = MakeBuffer("V", Float(), {m_});
  EXPECT_TRUE(SameExpr(MakeSparseBuffer(v, {I_}), MakeSparseBuffer(v, {DenseFixed("other", m_)})));
  EXPECT_FALSE(SameExpr(MakeSparseBuffer(v, {I_}), MakeSparseBuffer(v, {I_}, Number(1))));
}

TEST_F(SparseBufferTest, SurvivesJsonWithItsAxesShared) {
  SparseBuffer matrix = Over({I_, J_});
  String json = Call<String>(ST_GLOBAL("ffi.ToJSONGraphString"), matrix, nullptr);
  auto read = Call<SparseBuffer>(ST_GLOBAL("ffi.FromJSONGraphString"), json);
  ASSERT_EQ(read->axes.size(), 2);
  EXPECT_TRUE(ParentOf(read->axes[1]).value().same_as(read->axes[0]));
  EXPECT_EQ(read->buffer.name(), "V");
}
}  // namespace testing
}  // namespace sparse_tir
