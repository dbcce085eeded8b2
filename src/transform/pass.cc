#include "pass.h"

#include "../ir/diagnostics.h"

namespace sparse_tir {
std::string StageOf(const tir::PrimFunc& f) {
  auto stage = tir::GetAttr(f, names::kStage);
  return stage.has_value() ? std::string(stage.value().cast<String>()) : "";
}

void RequireStage(const tir::PrimFunc& f, const char* pass, const std::string& stage) {
  std::string found = StageOf(f);
  if (found == stage) return;
  auto text = [](const std::string& s) { return s.empty() ? std::string("loops (no stage)") : "stage \"" + s + "\""; };
  Refuse({"ST420", pass, text(found), text(stage), "the pipeline is in sparse_tir.transform.PIPELINE", std::nullopt});
}
}  // namespace sparse_tir
