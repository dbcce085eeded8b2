// Axes: what they store, what passes ask of them, equality and JSON.
#include <tvm/ffi/extra/structural_hash.h>

#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
int64_t HashOf(const Any& node) { return ffi::StructuralHash()(node); }

struct Tree {
  Var m = MakeVar("m", Int(32)), n = MakeVar("n", Int(32)), nnz = MakeVar("nnz", Int(32));
  Var indptr = MakeBuffer("indptr", Int(32), {m + IntLit(1, Int(32))}), indices = MakeBuffer("indices", Int(32), {nnz});
  Axis I = DenseFixed("I", m), J = SparseVariable("J", I, n, nnz, indptr, indices);
};
}  // namespace

TEST(Axis, KnowsItsKind) {
  Tree t;
  Axis ragged = DenseVariable("R", t.I, t.n, t.nnz, t.indptr), ell = SparseFixed("E", t.I, t.n, t.n, t.indices);
  EXPECT_TRUE(IsDense(t.I) && !IsStored(t.I) && !IsVariable(t.I) && !IsPadded(t.I));
  EXPECT_TRUE(!IsDense(t.J) && IsStored(t.J) && IsVariable(t.J) && !IsPadded(t.J));
  EXPECT_TRUE(IsStored(ragged) && IsVariable(ragged) && !IsPadded(ragged));
  EXPECT_TRUE(IsStored(ell) && !IsVariable(ell) && IsPadded(ell));
}

TEST(Axis, HasTheArraysOfItsKind) {
  Tree t;
  Axis ragged = DenseVariable("R", t.I, t.n, t.nnz, t.indptr);
  EXPECT_TRUE(IndptrOf(t.J).value().same_as(t.indptr));
  EXPECT_TRUE(IndicesOf(t.J).value().same_as(t.indices));
  EXPECT_TRUE(IndptrOf(ragged).value().same_as(t.indptr));
  EXPECT_FALSE(IndicesOf(ragged).has_value());
  EXPECT_FALSE(IndptrOf(t.I).has_value());
}

TEST(Axis, CountsItsPositions) {
  Tree t;
  Axis ell = SparseFixed("E", t.J, t.n, IntLit(4, Int(32)), t.indices);
  EXPECT_EQ(Text(PositionsOf(t.I)), "m");
  EXPECT_EQ(Text(PositionsOf(t.J)), "nnz");
  EXPECT_EQ(Text(PositionsOf(ell)), "T.Cast(\"int64\", nnz) * T.int64(4)");
}

TEST(Axis, HasAncestorsAndIsNoneOfItself) {
  Tree t;
  Axis K = DenseVariable("K", t.J, t.n, t.nnz, t.indptr);
  EXPECT_TRUE(IsAncestor(t.I, K));
  EXPECT_TRUE(IsAncestor(t.J, K));
  EXPECT_FALSE(IsAncestor(K, t.I));
  EXPECT_FALSE(IsAncestor(K, K));
}

TEST(Axis, IsEqualToOneOfAnotherNameAndHashesLikeIt) {
  Tree t;
  Axis other = DenseFixed("rows", t.m);
  EXPECT_TRUE(SameExpr(t.I, other));
  EXPECT_EQ(HashOf(t.I), HashOf(other));
}

TEST(Axis, DiffersByEveryOtherField) {
  Tree t;
  Order unsorted, repeated;
  unsorted.sorted = false;
  repeated.unique = false;
  EXPECT_FALSE(SameExpr(t.I, DenseFixed("I", t.n)));
  EXPECT_FALSE(SameExpr(t.I, DenseFixed("I", t.m, "int64")));
  EXPECT_FALSE(SameExpr(t.J, SparseVariable("J", t.I, t.n, t.nnz, t.indptr, t.indices, unsorted)));
  EXPECT_FALSE(SameExpr(t.J, SparseVariable("J", t.I, t.n, t.nnz, t.indptr, t.indices, repeated)));
  EXPECT_FALSE(SameExpr(t.J, SparseVariable("J", t.I, t.n, t.m, t.indptr, t.indices)));
  EXPECT_FALSE(SameExpr(t.J, SparseVariable("J", DenseFixed("I", t.n), t.n, t.nnz, t.indptr, t.indices)));
  EXPECT_FALSE(SameExpr(t.J, DenseVariable("J", t.I, t.n, t.nnz, t.indptr)));
}

TEST(Axis, SurvivesJson) {
  Axis wide = DenseFixed("I", IntLit(7, Int(64)), "int64");
  String json = Call<String>(ST_GLOBAL("ffi.ToJSONGraphString"), wide, nullptr);
  Axis read = Call<Axis>(ST_GLOBAL("ffi.FromJSONGraphString"), json);
  EXPECT_FALSE(read.same_as(wide));
  EXPECT_TRUE(SameExpr(read, wide));
  EXPECT_EQ(read->name, "I");
  EXPECT_EQ(read->idtype, "int64");
}
}  // namespace testing
}  // namespace sparse_tir
