// Errors: their class, their code, and the text of what they speak of.
#include "programs.h"

namespace sparse_tir {
namespace testing {
TEST(Diagnostics, TheClassFollowsFromTheCode) {
  auto refuse = [](const char* code) { return [code] { Refuse({code, "here", "this", "", "", std::nullopt}); }; };
  EXPECT_TRUE(Refuses(refuse("ST208"), {"SparseTIRScriptError", "[ST208] here\n  found:    this"}));
  EXPECT_TRUE(Refuses(refuse("ST408"), {"SparseTIRLegalityError", "[ST408] here"}));
  EXPECT_TRUE(Refuses([] { Bug("a fault"); }, {"SparseTIRInternalError", "[ST900]", "a fault"}));
}

TEST(Diagnostics, LeavesOutWhatIsNotSaid) {
  std::string error = ErrorOf([] { Refuse({"ST408", "here", "this", "", "", std::nullopt}); });
  for (const char* label : {"expected:", "next:", "at:"}) EXPECT_EQ(error.find(label), std::string::npos) << error;
}

TEST(Diagnostics, SaysWhereTheScriptHasIt) {
  auto file = Call<ObjectRef>(ST_GLOBAL("ir.SourceName"), "kernel.py");
  Span span = Call<Span>(ST_GLOBAL("ir.Span"), file, 12, 12, 3, 9);
  EXPECT_TRUE(Refuses([&] { Refuse({"ST408", "here", "this", "that", "do", span}); },
                      {"expected: that", "next:     do", "at:       kernel.py:12:3"}));
  EXPECT_EQ(Where(std::nullopt), "");
}

TEST(Diagnostics, TextIsTheExpressionAlone) {
  Var x = MakeVar("x", Int(32)), b = MakeBuffer("B", Int(32), {x});
  EXPECT_EQ(Text(x + IntLit(1, Int(32))), "x + 1");
  EXPECT_EQ(Text(b, {x, x * x}), "B[x, x * x]");
  EXPECT_EQ(Text(b, {}), "B[]");
}
}  // namespace testing
}  // namespace sparse_tir
