// Programs of the dialect, built without Python: through the registered constructors, as a script would declare them.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <functional>

#include "ir/diagnostics.h"
#include "tvm_view/visit.h"

namespace sparse_tir {
namespace testing {
using namespace tir;

PrimType Float(int bits = 32);
Expr Number(double value, const PrimType& dtype = Float());

// Axes, by the constructors that Python calls.
Axis DenseFixed(const char* name, const Expr& length, const char* idtype = "int32");
Axis DenseVariable(const char* name, const Axis& parent, const Expr& length, const Expr& nnz, const Var& indptr);
Axis SparseFixed(const char* name, const Optional<Axis>& parent, const Expr& length, const Expr& width,
                 const Var& indices);
struct Order {
  bool sorted = true, unique = true;
};
Axis SparseVariable(const char* name, const Axis& parent, const Expr& length, const Expr& nnz, const Var& indptr,
                    const Var& indices, Order order = {});
SparseBuffer MakeSparseBuffer(const Var& buffer, const Array<Axis>& axes, const Expr& default_value = Number(0));

// What is listed in `S.iter([..], "SR", name)`.
struct Header {
  const char* name;
  std::vector<Axis> axes;
  const char* kinds;
  std::vector<Var> vars;
};
// One variable for each axis, named by its small letter.
std::vector<Var> Iterators(const std::vector<Axis>& axes);

// Declares a function: each call adds a parameter, and the sparse buffers go with every later iteration.
class FunctionBuilder {
 public:
  Var Size(const char* name);
  Var Indices(const char* name, const Expr& length);
  Var Values(const char* name, const Array<Axis>& axes, const PrimType& dtype = Float());
  // The block that carries an iteration.
  Stmt Iteration(const Header& header, const Stmt& body, const Optional<Stmt>& init = std::nullopt) const;
  // At the coordinate stage.
  PrimFunc Finish(const Array<Stmt>& iterations) const;

 private:
  Array<Var> params_;
  Array<SparseBuffer> buffers_;
};

// A CSR matrix `A` of float32: m rows, n columns, nnz elements.
struct Csr {
  explicit Csr(FunctionBuilder* f, Order order = {});
  Var m, n, nnz, indptr, indices;
  Axis I, J;
  Var A, i, j;
};

// C[i] = 0, then C[i] = C[i] + A[i, j].
PrimFunc RowSum();
// C[i, k] = 0, then C[i, k] = C[i, k] + A[i, j] * B[j, k] with four features.
PrimFunc CsrSpmm();
// Y[r] = 0 for every row, then Y[r] = Y[r] + E[p] for an unordered list of rows that may repeat.
PrimFunc CooScatter();

// ---- passes
ObjectRef Pass(const char* name);
// The function after the named passes, in order.
PrimFunc Apply(const PrimFunc& f, const std::vector<const char*>& passes);
PrimFunc AtPositions(const PrimFunc& f);  // after LowerSparseIter and LowerSparseBuffer
PrimFunc AtLoops(const PrimFunc& f);      // after all of them

// ---- what tests ask
// The statements of a function as TVM prints them, without its head and the regions of blocks.
std::string Body(const PrimFunc& f);
// What `call` throws: "" if nothing. Kind and message in one text.
std::string ErrorOf(const std::function<void()>& call);
// Whether the text has all the parts.
::testing::AssertionResult HasAll(const std::string& text, const std::vector<std::string>& parts);
inline ::testing::AssertionResult Refuses(const std::function<void()>& call, const std::vector<std::string>& parts) {
  return HasAll(ErrorOf(call), parts);
}
}  // namespace testing
}  // namespace sparse_tir
