#include "diagnostics.h"

#include <unordered_map>

namespace sparse_tir {
void Refuse(const Particulars& p) {
  std::string message = std::string("[") + p.code + "] " + p.where + "\n  found:    " + p.found;
  if (!p.expected.empty()) message += "\n  expected: " + p.expected;
  if (!p.hint.empty()) message += "\n  next:     " + p.hint;
  std::string where = Where(p.span);
  if (!where.empty()) message += "\n  at:       " + where;
  if (p.code[2] == '2') TVM_FFI_THROW(SparseTIRScriptError) << message;
  TVM_FFI_THROW(SparseTIRLegalityError) << message;
}

void Bug(const std::string& what) {
  TVM_FFI_THROW(SparseTIRInternalError) << "[ST900] sparse_tir\n  found:    " << what;
}

std::string Text(const ObjectRef& node) {
  std::string text = Call<String>(ST_GLOBAL("node.TVMScriptPrinterScript"), node, nullptr);
  return text.substr(text.rfind('\n', text.size() - 2) + 1);  // the expression itself, without imports and comments
}

std::string Text(const tir::Stmt& statement) {
  static const std::unordered_map<std::string, std::string> kWords = {
      {"tirx.For", "a loop (for)"},          {"tirx.While", "a loop (while)"},
      {"tirx.IfThenElse", "a branch (if)"},  {"tirx.AllocBuffer", "a local name"},
      {"tirx.Bind", "a local name"},         {"tirx.Evaluate", "a statement that assigns nothing"},
      {"tirx.BufferStore", "an assignment"}, {"tirx.Return", "a return"},
      {"tirx.AssertStmt", "an assertion"},   {"s_tir.SBlockRealize", "a block"}};
  std::string key = statement->GetTypeKey();
  auto found = kWords.find(key);
  return found == kWords.end() ? "a statement `" + key + "`" : found->second;
}

std::string Text(const tir::Var& buffer, const Array<tir::Expr>& indices) {
  std::string text = std::string(buffer.name()) + "[";
  for (size_t i = 0; i < indices.size(); ++i) text += (i ? ", " : "") + Text(indices[i]);
  return text + "]";
}

std::string Quoted(const Axis& axis) { return "axis `" + std::string(axis->name) + "`"; }
}  // namespace sparse_tir
