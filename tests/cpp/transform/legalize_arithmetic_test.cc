// LegalizeArithmetic: NaN, wrapping integers and divisions as the laws have them.
#include "programs.h"

namespace sparse_tir {
namespace testing {
namespace {
using Value = std::function<Expr(const Expr&, const Expr&)>;

// for i: C[i] = value(A[i], B[i]), as loops.
std::string Legalized(const PrimType& dtype, const Value& value) {
  FunctionBuilder f;
  Axis I = DenseFixed("I", f.Size("m"));
  Var A = f.Values("A", {I}, dtype), B = f.Values("B", {I}, dtype), C = f.Values("C", {I}, dtype);
  Var i = Iterators({I})[0];
  Stmt store = Store(C, value(Load(A, {i}), Load(B, {i})), {i});
  return Body(AtLoops(f.Finish({f.Iteration({"it", {I}, "S", {i}}, store)})));
}
PrimType UInt32() { return MakePrimType(DLDataType{kDLUInt, 32, 1}); }
Expr Minus(const Expr& a, const Expr& b) { return a - b; }
Expr Plus(const Expr& a, const Expr& b) { return a + b; }
}  // namespace

TEST(LegalizeArithmetic, MaxOfFloatsPropagatesNaN) {
  EXPECT_TRUE(HasAll(Legalized(Float(), Maximum), {"T.Select(", "T.isnan(A[vi])", "A[vi], B[vi])"}));
  std::string integers = Legalized(Int(32), Maximum);
  EXPECT_TRUE(HasAll(integers, {"T.max(A[vi], B[vi])"}));
}

TEST(LegalizeArithmetic, AnOperandOfMaxIsComputedOnce) {
  std::string body = Legalized(Float(), [](const Expr& a, const Expr& b) { return Minimum(a + b, b); });
  EXPECT_TRUE(HasAll(body, {"lhs: T.let[T.float32] = ", "T.isnan(lhs)"}));
}

TEST(LegalizeArithmetic, SumsOfFloatsAreLeftAlone) {
  PrimFunc before = Apply(AtPositions(RowSum()), {"PlaceInit", "ExpandCombine"});
  EXPECT_TRUE(SameExpr(Apply(before, {"LegalizeArithmetic"}), before));
}

TEST(LegalizeArithmetic, ADifferenceOfFloatsIsHiddenFromTheSimplifier) {
  EXPECT_TRUE(HasAll(Legalized(Float(), Minus), {"A[vi] - T.reinterpret(\"float32\""}));
}

TEST(LegalizeArithmetic, IntegersWrapByTwiceTheWidth) {
  EXPECT_TRUE(
      HasAll(Legalized(Int(32), Plus), {"T.Cast(\"int32\", T.Cast(\"int64\", A[vi]) + T.Cast(\"int64\", B[vi]) | "}));
  EXPECT_TRUE(HasAll(Legalized(UInt32(), Minus), {"T.Cast(\"uint32\", ", "T.Cast(\"int64\", A[vi])"}));
}

TEST(LegalizeArithmetic, ADivisionByWhatMayBeZeroIsGuarded) {
  EXPECT_TRUE(HasAll(Legalized(Int(32), FloorDivide), {"A[vi] // T.Select(B[vi] == 0 or B[vi] == -1, 1, B[vi])"}));
  auto third = [](const Expr& a, const Expr&) { return FloorDivide(a, IntLit(3, Int(32))); };
  EXPECT_TRUE(HasAll(Legalized(Int(32), third), {"C[vi] = A[vi] // 3\n"}));
}

TEST(LegalizeArithmetic, ALessOfFloatsKeepsIeee) {
  auto chosen = [](const Expr& a, const Expr& b) { return MakeSelect(a < b, a, b); };
  EXPECT_TRUE(HasAll(Legalized(Float(), chosen), {"T.Select(T.reinterpret(\"float32\"", " < B[vi], A[vi], B[vi])"}));
  EXPECT_TRUE(HasAll(Legalized(Int(32), chosen), {"T.Select(A[vi] < B[vi], A[vi], B[vi])"}));
}

TEST(LegalizeArithmetic, NothingIsNamedInsideOfAChoice) {
  auto guarded = [](const Expr& a, const Expr& b) { return IfThenElseExpr(b < a, Maximum(a + b, b), a); };
  std::string body = Legalized(Float(), guarded);
  EXPECT_EQ(body.find("lhs"), std::string::npos) << body;
  EXPECT_TRUE(HasAll(body, {"T.isnan(A[vi] + B[vi])"}));
}
}  // namespace testing
}  // namespace sparse_tir
