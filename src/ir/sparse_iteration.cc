#include "sparse_iteration.h"

#include "diagnostics.h"

namespace sparse_tir {
using namespace tir;

std::optional<SparseIteration> IterationOf(const SBlockRealize& realize) {
  SBlock block = realize.block();
  Map<String, Any> annotations = block.annotations();
  auto axes_found = annotations.Get(names::kAxes);
  if (!axes_found.has_value()) return std::nullopt;
  auto axes = axes_found.value().cast<Array<Axis>>();
  auto buffers = annotations.at(names::kBuffers).cast<Array<SparseBuffer>>();
  Array<IterVar> iter_vars = block.iter_vars();
  if (axes.size() != iter_vars.size()) {
    Refuse({"ST204", block.name_hint(), std::to_string(axes.size()) + " axes",
            std::to_string(iter_vars.size()) + ", one for each iterator", "", realize.span()});
  }
  SparseIteration it{block.name_hint(), {}, buffers, block.init(), block.body(), realize.span()};
  for (size_t i = 0; i < axes.size(); ++i) {
    it.iterators.push_back({iter_vars[i].var(), axes[i], iter_vars[i].iter_type() == kCommReduce});
  }
  return it;
}

std::vector<Stmt> Statements(const Stmt& body) {
  std::vector<Stmt> out;
  if (auto seq = body.as<SeqStmt>()) {
    for (const Stmt& s : seq.value().seq()) {
      for (const Stmt& inner : Statements(s)) out.push_back(inner);
    }
  } else {
    out.push_back(body);
  }
  return out;
}

std::vector<Stmt> OutermostStatements(const PrimFunc& func) {
  Stmt body = func.body();
  auto realize = body.as<SBlockRealize>();
  if (realize && realize.value().block().iter_vars().empty() && realize.value().block().name_hint() == "root") {
    body = realize.value().block().body();
  }
  return Statements(body);
}

std::string Where(const Optional<Span>& span) {
  if (!span.has_value()) return "";
  Span s = span.value();
  return std::string(s.source_name().name()) + ":" + std::to_string(s.line()) + ":" + std::to_string(s.column());
}
}  // namespace sparse_tir
