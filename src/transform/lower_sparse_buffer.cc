// LowerSparseBuffer: coordinate parameters -> value arrays.
//
// \pre LowerSparseIter has run. \post stage "position": the parameters are physical arrays, no object of the dialect is
// left, reads and writes of every block are known.
#include "../ir/diagnostics.h"
#include "../tvm_view/visit.h"
#include "pass.h"

namespace sparse_tir {
namespace {
using namespace tir;

PrimFunc LowerSparseBuffer(const PrimFunc& f) {
  RequireStage(f, "LowerSparseBuffer", names::kCoordinateStage);
  auto pairs = GetAttr(f, names::kStorage);
  if (!pairs.has_value()) {
    Refuse({"ST420", "LowerSparseBuffer", "sparse iterations", "a function that LowerSparseIter has lowered", "",
            std::nullopt});
  }
  std::unordered_map<Identity, Var> physical;
  for (const Array<Var>& pair : pairs.value().cast<Array<Array<Var>>>()) physical.emplace(pair[0].get(), pair[1]);
  Array<Var> params;
  for (const Var& p : f.params()) {
    auto it = physical.find(p.get());
    params.push_back(it == physical.end() ? p : it->second);
  }
  PrimFunc lowered = WithoutAttr(CopyFunc(f, params, f.body()), names::kStorage);
  return CompleteRegions(WithAttr(lowered, names::kStage, String(names::kPositionStage)));
}
}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() { RegisterPass("LowerSparseBuffer", LowerSparseBuffer); }
}  // namespace sparse_tir
