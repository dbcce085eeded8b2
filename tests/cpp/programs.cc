#include "programs.h"

#include <cctype>
#include <cstring>
#include <sstream>

namespace sparse_tir {
namespace testing {
PrimType Float(int bits) { return MakePrimType(DLDataType{kDLFloat, static_cast<uint8_t>(bits), 1}); }

Expr Number(double value, const PrimType& dtype) {
  return Call<Expr>(ST_GLOBAL("ir.FloatImm"), dtype.dtype(), value, nullptr);
}

Axis DenseFixed(const char* name, const Expr& length, const char* idtype) {
  return Call<Axis>(ST_GLOBAL("sparse_tir.ir.DenseFixedAxis"), name, length, idtype);
}

Axis DenseVariable(const char* name, const Axis& parent, const Expr& length, const Expr& nnz, const Var& indptr) {
  return Call<Axis>(ST_GLOBAL("sparse_tir.ir.DenseVariableAxis"), name, parent, length, nnz, indptr, "int32");
}

Axis SparseFixed(const char* name, const Optional<Axis>& parent, const Expr& length, const Expr& width,
                 const Var& indices) {
  return Call<Axis>(ST_GLOBAL("sparse_tir.ir.SparseFixedAxis"), name, parent, length, width, indices, "int32", true,
                    true);
}

Axis SparseVariable(const char* name, const Axis& parent, const Expr& length, const Expr& nnz, const Var& indptr,
                    const Var& indices, Order order) {
  return Call<Axis>(ST_GLOBAL("sparse_tir.ir.SparseVariableAxis"), name, parent, length, nnz, indptr, indices, "int32",
                    order.sorted, order.unique);
}

SparseBuffer MakeSparseBuffer(const Var& buffer, const Array<Axis>& axes, const Expr& default_value) {
  return Call<SparseBuffer>(ST_GLOBAL("sparse_tir.ir.SparseBuffer"), buffer, axes, default_value);
}

std::vector<Var> Iterators(const std::vector<Axis>& axes) {
  std::vector<Var> vars;
  for (const Axis& axis : axes) {
    std::string name = axis->name;
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    vars.push_back(MakeVar(name, Int(axis->idtype == "int64" ? 64 : 32)));
  }
  return vars;
}

Var FunctionBuilder::Size(const char* name) {
  params_.push_back(MakeVar(name, Int(32)));
  return params_.back();
}

Var FunctionBuilder::Indices(const char* name, const Expr& length) {
  params_.push_back(MakeBuffer(name, Int(32), {length}));
  return params_.back();
}

Var FunctionBuilder::Values(const char* name, const Array<Axis>& axes, const PrimType& dtype) {
  Array<Expr> shape;
  for (const Axis& axis : axes) shape.push_back(axis->length);
  params_.push_back(MakeBuffer(name, dtype, shape));
  buffers_.push_back(MakeSparseBuffer(params_.back(), axes, CastTo(Int64(0), dtype.dtype())));
  return params_.back();
}

Stmt FunctionBuilder::Iteration(const Header& header, const Stmt& body, const Optional<Stmt>& init) const {
  Array<IterVar> iter_vars;
  Array<Expr> values;
  for (size_t i = 0; i < header.axes.size(); ++i) {
    const Var& v = header.vars[i];
    int type = header.kinds[i] == 'R' ? kCommReduce : kDataPar;
    iter_vars.push_back(MakeIterVar(CastTo(header.axes[i]->length, DTypeOf(v)), v, type));
    values.push_back(IntLit(0, v.ty()));  // scripts bind the op `sparse_tir.position`; nothing reads it
  }
  Map<String, Any> annotations{{names::kAxes, Array<Axis>(header.axes.begin(), header.axes.end())},
                               {names::kBuffers, buffers_}};
  return MakeBlock(header.name, iter_vars, values, init, body, annotations);
}

PrimFunc FunctionBuilder::Finish(const Array<Stmt>& iterations) const {
  Map<String, Any> attributes{{"s_tir", true}, {names::kStage, String(names::kCoordinateStage)}};
  Any dict = refl::ObjectCreator("ir.DictAttrs")(Map<String, Any>{{"__dict__", attributes}});
  Type nothing = Call<Type>(ST_GLOBAL("ir.TupleType"), Array<Type>(), nullptr);
  return CompleteRegions(
      Call<PrimFunc>(ST_GLOBAL("tirx.PrimFunc"), params_, MakeSeq(iterations), nothing, dict, nullptr));
}

Csr::Csr(FunctionBuilder* f, Order order)
    : m(f->Size("m")),
      n(f->Size("n")),
      nnz(f->Size("nnz")),
      indptr(f->Indices("indptr", m + IntLit(1, Int(32)))),
      indices(f->Indices("indices", nnz)),
      I(DenseFixed("I", m)),
      J(SparseVariable("J", I, n, nnz, indptr, indices, order)),
      A(f->Values("A", {I, J})),
      i(Iterators({I})[0]),
      j(Iterators({J})[0]) {}

PrimFunc RowSum() {
  FunctionBuilder f;
  Csr a(&f);
  Var C = f.Values("C", {a.I});
  Stmt sum = Store(C, Load(C, {a.i}) + Load(a.A, {a.i, a.j}), {a.i});
  return f.Finish({f.Iteration({"row_sum", {a.I, a.J}, "SR", {a.i, a.j}}, sum, Store(C, Number(0), {a.i}))});
}

PrimFunc CsrSpmm() {
  FunctionBuilder f;
  Csr a(&f);
  Axis D = DenseFixed("D", a.n), K = DenseFixed("K", IntLit(4, Int(32)));
  Var B = f.Values("B", {D, K}), C = f.Values("C", {a.I, K}), k = Iterators({K})[0];
  Expr product = Load(a.A, {a.i, a.j}) * Load(B, {a.j, k});
  Stmt sum = Store(C, Load(C, {a.i, k}) + product, {a.i, k});
  Stmt start = Store(C, Number(0), {a.i, k});
  return f.Finish({f.Iteration({"spmm", {a.I, a.J, K}, "SRS", {a.i, a.j, k}}, sum, start)});
}

PrimFunc CooScatter() {
  FunctionBuilder f;
  Var m = f.Size("m"), nnz = f.Size("nnz"), rows = f.Indices("rows", nnz);
  Axis P = Call<Axis>(ST_GLOBAL("sparse_tir.ir.SparseFixedAxis"), "P", Optional<Axis>(), m, nnz, rows, "int32",
                      /*sorted=*/false, /*unique=*/false);
  Var E = f.Values("E", {P}), Y = f.Values("Y", {DenseFixed("R", m)}), p = Iterators({P})[0];
  Stmt sum = Store(Y, Load(Y, {p}) + Load(E, {p}), {p});
  return f.Finish({f.Iteration({"scatter", {P}, "R", {p}}, sum, Store(Y, Number(0), {p}))});
}

ObjectRef Pass(const char* name) {
  return ffi::Function::GetGlobalRequired(std::string("sparse_tir.transform.") + name)().cast<ObjectRef>();
}

PrimFunc Apply(const PrimFunc& f, const std::vector<const char*>& passes) {
  auto main = Call<ObjectRef>(ST_GLOBAL("ir.GlobalVar"), "main");
  auto module = Call<ObjectRef>(ST_GLOBAL("ir.IRModule"), Map<ObjectRef, ObjectRef>{{main, f}}, nullptr,
                                Map<String, ObjectRef>());
  for (const char* name : passes) module = Call<ObjectRef>(ST_GLOBAL("transform.RunPass"), Pass(name), module);
  return Call<PrimFunc>(ST_GLOBAL("ir.Module_Lookup_str"), module, "main");
}

PrimFunc AtPositions(const PrimFunc& f) { return Apply(f, {"LowerSparseIter", "LowerSparseBuffer"}); }
PrimFunc AtLoops(const PrimFunc& f) {
  return Apply(AtPositions(f), {"PlaceInit", "ExpandCombine", "LegalizeArithmetic"});
}

std::string Body(const PrimFunc& f) {
  std::istringstream script(Call<String>(ST_GLOBAL("node.TVMScriptPrinterScript"), f, nullptr));
  std::string body;
  for (std::string line; std::getline(script, line);) {
    std::string words = line.substr(std::min(line.size(), line.find_first_not_of(' ')));
    auto starts = [&](const char* with) { return words.compare(0, std::strlen(with), with) == 0; };
    if (body.empty() && !starts("for ")) continue;
    if (!starts("T.reads(") && !starts("T.writes(")) body += line.substr(4) + "\n";
  }
  return body;
}

std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const ffi::Error& e) {
    return e.kind() + ": " + e.message();
  }
  return "";
}

::testing::AssertionResult HasAll(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (text.find(part) == std::string::npos) {
      return ::testing::AssertionFailure() << "no `" << part << "` in:\n" << (text.empty() ? "(nothing)" : text);
    }
  }
  return ::testing::AssertionSuccess();
}
}  // namespace testing
}  // namespace sparse_tir
