// LowerSparseIter: iterations become blocks over positions.
#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
// C[i] = C[i] + B[i, d] of a CSR matrix B, read by the coordinates of a dense iteration.
PrimFunc Searching(bool sorted) {
  FunctionBuilder f;
  Order order;
  order.sorted = sorted;
  Csr b(&f, order);
  Axis D = DenseFixed("D", b.n);
  Var C = f.Values("C", {b.I}), d = Iterators({D})[0];
  Stmt sum = Store(C, Load(C, {b.i}) + Load(b.A, {b.i, d}), {b.i});
  return f.Finish({f.Iteration({"search", {b.I, D}, "SR", {b.i, d}}, sum, Store(C, Number(0), {b.i}))});
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

PrimFunc Ell() {
  FunctionBuilder f;
  Var m = f.Size("m"), n = f.Size("n"), w = f.Size("w"), indices = f.Indices("indices", m * w);
  Axis I = DenseFixed("I", m), J = SparseFixed("J", I, n, w, indices);
  Var A = f.Values("A", {I, J}), C = f.Values("C", {I}), i = Iterators({I})[0], j = Iterators({J})[0];
  Stmt sum = Store(C, Load(C, {i}) + Load(A, {i, j}), {i});
  return f.Finish({f.Iteration({"ell", {I, J}, "SR", {i, j}}, sum, Store(C, Number(0), {i}))});
}
}  // namespace

TEST(LowerSparseIter, MakesABlockForEachLevelOfCsr) {
  EXPECT_EQ(Body(AtPositions(CsrSpmm())),
            R"(for i in range(T.Cast("int64", m)):
    with T.sblock("spmm_I"):
        vi = T.axis.spatial(T.Cast("int64", m), i)
        for j, k in T.grid(T.Cast("int64", indptr[vi + T.int64(1)]) - T.Cast("int64", indptr[vi]), T.int64(4)):
            with T.sblock("spmm"):
                vj = T.axis.reduce(T.Cast("int64", nnz), j)
                vk = T.axis.spatial(T.int64(4), k)
                with T.init():
                    C[vi, vk] = T.float32(0.0)
                C[vi, vk] = C[vi, vk] + A[T.Cast("int64", indptr[vi]) + vj] * B[T.Cast("int64", indices[T.Cast("int64", indptr[vi]) + vj]), vk]
)");
}

TEST(LowerSparseIter, EveryLoopVariableIsInt64) {
  for (const PrimFunc& program : {RowSum(), CsrSpmm(), CooScatter(), Ell(), Searching(true), Searching(false)}) {
    PrimFunc lowered = AtPositions(program);
    std::vector<For> loops = Collect<For>(lowered.body());
    EXPECT_FALSE(loops.empty());
    for (const For& loop : loops) {
      EXPECT_EQ(DTypeOf(loop.loop_var()).bits, 64);
      EXPECT_EQ(DTypeOf(loop.extent()).bits, 64);
    }
    for (const BufferStore& store : Collect<BufferStore>(lowered.body())) {
      for (const Expr& index : store.indices()) EXPECT_EQ(DTypeOf(index).bits, 64) << Text(index);
    }
  }
}

TEST(LowerSparseIter, NoCarrierIsLeft) {
  for (const SBlock& block : Collect<SBlock>(Apply(CsrSpmm(), {"LowerSparseIter"}).body())) {
    EXPECT_FALSE(block.annotations().count(names::kAxes));
  }
}

TEST(LowerSparseIter, CoversTheOutputOfAScatter) {
  EXPECT_EQ(Body(AtPositions(CooScatter())),
            R"(for p in range(T.Cast("int64", m)):
    with T.sblock("scatter_init"):
        vp = T.axis.spatial(T.Cast("int64", m), p)
        T.sblock_attr({"sparse_tir.cover": "sum"})
        Y[vp] = T.float32(0.0)
for p in range(T.Cast("int64", nnz)):
    with T.sblock("scatter"):
        vp = T.axis.spatial(T.Cast("int64", nnz), p)
        T.sblock_attr({"sparse_tir.combine": "sum"})
        if T.Cast("int64", rows[vp]) < T.Cast("int64", m):
            Y[T.Cast("int64", rows[vp])] = E[vp]
)");
}

TEST(LowerSparseIter, PaddingLoadsNothingAndAddsTheIdentity) {
  EXPECT_TRUE(
      HasAll(Body(AtPositions(Ell())), {"T.if_then_else(T.Cast(\"int64\", indices[", "A[vi, vj], T.float32(0.0))"}));
}

TEST(LowerSparseIter, SearchesASortedRowByBisection) {
  std::string body = Body(AtPositions(Searching(true)));
  EXPECT_EQ(Count(body, "while "), 1) << body;
  EXPECT_TRUE(HasAll(body, {"\"sparse_tir.search\": True", "(high[T.int64(0)] - low[T.int64(0)]) // T.int64(2)"}));
}

TEST(LowerSparseIter, ScansAnUnsortedRow) {
  std::string body = Body(AtPositions(Searching(false)));
  EXPECT_EQ(Count(body, "while "), 0) << body;
  EXPECT_EQ(Count(body, "for offset in "), 1) << body;
}

TEST(LowerSparseIter, SharesEqualSearches) {
  FunctionBuilder f;
  Csr b(&f);
  Axis D = DenseFixed("D", b.n);
  Var C = f.Values("C", {b.I}), d = Iterators({D})[0];
  Expr element = Load(b.A, {b.i, d}), below = Load(b.A, {b.i, d + IntLit(1, Int(32))});
  auto searches = [&](const Expr& value) {
    Stmt sum = Store(C, Load(C, {b.i}) + value, {b.i});
    return Count(Body(AtPositions(f.Finish({f.Iteration({"it", {b.I, D}, "SR", {b.i, d}}, sum)}))), "while ");
  };
  EXPECT_EQ(searches(element * element), 1);
  EXPECT_EQ(searches(element * below), 2);
}

TEST(LowerSparseIter, GuardsAWriteThatMayBeOutOfRange) {
  FunctionBuilder f;
  Var m = f.Size("m");
  Axis I = DenseFixed("I", m);
  Var C = f.Values("C", {I}), i = Iterators({I})[0];
  Stmt shifted = Store(C, Number(1), {i - IntLit(1, Int(32))});
  EXPECT_TRUE(HasAll(Body(AtPositions(f.Finish({f.Iteration({"it", {I}, "S", {i}}, shifted)}))),
                     {"if T.int64(0) <= vi - T.int64(1)", "C[vi - T.int64(1)] = T.float32(1.0)"}));
}

TEST(LowerSparseIter, RefusesAFoldIntoANarrowType) {
  FunctionBuilder f;
  Csr a(&f);
  Var C = f.Values("C", {a.I}, Float(16));
  Stmt sum = Store(C, Load(C, {a.i}) + Number(1, Float(16)), {a.i});
  PrimFunc narrow = f.Finish({f.Iteration({"it", {a.I, a.J}, "SR", {a.i, a.j}}, sum)});
  EXPECT_TRUE(
      Refuses([&] { AtPositions(narrow); }, {"LegalityError", "[ST421] it", "a fold into C of a narrow dtype"}));
}

TEST(LowerSparseIter, ChecksTheLaws) {
  FunctionBuilder f;
  Csr a(&f);
  Var C = f.Values("C", {a.I});
  PrimFunc wrong = f.Finish({f.Iteration({"it", {a.I, a.J}, "SS", {a.i, a.j}}, Store(C, Number(1), {a.i}))});
  EXPECT_TRUE(Refuses([&] { AtPositions(wrong); }, {"[ST408]"}));
}
}  // namespace testing
}  // namespace sparse_tir
