// Law 2: what a subscript reads.
#include "verifier.h"

namespace sparse_tir {
namespace verifier {
using namespace tir;

namespace {
// Functions that compute a value from values; anything else may do what no law speaks of.
bool IsValueFunction(const CallExpr& call) {
  constexpr int kPure = 1;
  auto op = call.op().as<Op>();
  if (!op) return false;
  std::string name = op.value().name();
  for (const char* part : {"extern", "packed", "address_of"}) {
    if (name.find(part) != std::string::npos) return false;
  }
  Any attribute = ST_GLOBAL("ir.OpGetAttr")(op.value(), "TCallEffectKind");
  auto effect = attribute.as<int64_t>();
  return effect && *effect <= kPure;
}
}  // namespace

void CheckSubscripts(const Scope& scope, const Expr& buffer, const Array<Expr>& indices, const Optional<Span>& span) {
  for (const Expr& index : indices) {
    DLDataType t = DTypeOf(index);
    if ((t.code == kDLInt || t.code == kDLUInt) && t.lanes == 1) continue;
    Refuse({"ST209", scope.innermost().name, Text(buffer) + " subscripted by " + Text(index), "integers",
            "convert it with T.cast(.., \"int32\")", span});
  }
}

void CheckReads(const Scope& scope, const Expr& value) {
  for (const CallExpr& call : Collect<CallExpr>(value)) {
    if (IsValueFunction(call)) continue;
    Refuse(
        {"ST210", scope.innermost().name, Text(call), "arithmetic, and mathematical functions of T", "", call.span()});
  }
  for (const TensorLoad& load : Collect<TensorLoad>(value)) {
    auto buffer = scope.BufferOf(load.source());
    if (!buffer) {
      Refuse({"ST411", scope.innermost().name, "a load of " + Text(load.source()), "loads of sparse buffers",
              "bind the array with S.match_sparse_buffer", load.span()});
    }
    Array<Expr> indices = load.indices();
    CheckSubscripts(scope, load.source(), indices, load.span());
    for (size_t d = 0; d < indices.size(); ++d) {
      const Axis& axis = (*buffer)->axes[d];
      if (IsStored(axis) && !axis->unique && !scope.IsOwnPosition(*buffer, indices, d)) {
        Refuse({"ST402", scope.innermost().name, Text((*buffer)->buffer, indices) + " searches " + Quoted(axis),
                "a search on a unique axis, or the iterator of " + Quoted(axis) + " itself", "", load.span()});
      }
    }
  }
}
}  // namespace verifier
}  // namespace sparse_tir
