#include "schedule_checks.h"

#include "../ir/diagnostics.h"
#include "nest.h"

namespace sparse_tir {
namespace {
using namespace tir;

// A load or a store, and what is around it, outermost first: loops, blocks and conditions.
struct Access {
  Var buffer;
  std::optional<BufferStore> store;  // of a write
  Nest path;

  bool is_write() const { return store.has_value(); }
  std::optional<SBlockRealize> Block() const {
    for (size_t d = path.size(); d-- > 0;) {
      if (auto realize = path[d].as<SBlockRealize>()) return realize.value();
    }
    return std::nullopt;
  }
  std::string BlockName() const { return Block() ? std::string(Block()->block().name_hint()) : "root"; }
};

// All accesses in the order of the program; a loop's bounds come before its body.
class AccessCollector {
 public:
  std::vector<Access> Run(const PrimFunc& f) {
    Visit(f.body());
    return std::move(found_);
  }

 private:
  void Reads(const ObjectRef& node) {
    for (const TensorLoad& load : Collect<TensorLoad>(node)) {
      if (auto buffer = load.source().as<Var>()) found_.push_back({buffer.value(), std::nullopt, path_});
    }
  }

  void Inside(const ObjectRef& node, const Stmt& body) {
    path_.push_back(node);
    Visit(body);
    path_.pop_back();
  }

  void Visit(const Stmt& stmt) {
    if (auto seq = stmt.as<SeqStmt>()) {
      for (const Stmt& s : seq.value().seq()) Visit(s);
    } else if (auto loop = stmt.as<For>()) {
      Reads(loop.value().min());
      Reads(loop.value().extent());
      Inside(stmt, loop.value().body());
    } else if (auto realize = stmt.as<SBlockRealize>()) {
      VisitBlock(realize.value());
    } else if (auto branch = stmt.as<IfThenElse>()) {
      Reads(branch.value().condition());
      Inside(stmt, branch.value().then_case());
      if (auto other = branch.value().else_case(); other.has_value()) Inside(stmt, other.value());
    } else if (auto store = stmt.as<BufferStore>()) {
      VisitStore(store.value());
    } else {
      Reads(stmt);
      for (const BufferStore& s : Collect<BufferStore>(stmt)) found_.push_back({s.buffer(), s, path_});
    }
  }

  void VisitBlock(const SBlockRealize& realize) {
    for (const Expr& value : realize.iter_values()) Reads(value);
    Reads(realize.predicate());
    SBlock block = realize.block();
    if (block.init().has_value()) Inside(realize, block.init().value());
    Inside(realize, block.body());
  }

  void VisitStore(const BufferStore& store) {
    Reads(store.value());
    for (const Expr& index : store.indices()) Reads(index);
    found_.push_back({store.buffer(), store, path_});
  }

  Nest path_;
  std::vector<Access> found_;
};

[[noreturn]] void RefuseSchedule(const Access& at, const std::string& found, const std::string& expected,
                                 const std::string& hint) {
  Refuse({"ST422", "block `" + at.BlockName() + "`", found, expected, hint, std::nullopt});
}

bool Holds(const Nest& path, const ObjectRef& node) {
  for (const ObjectRef& n : path) {
    if (n.same_as(node)) return true;
  }
  return false;
}

// Loops around a store that carry a reduction into the buffer, inside of the block that allocates it.
std::vector<For> FoldingLoops(const Access& write) {
  size_t scope = ScopeDepth(write.path, write.buffer);
  size_t outside = BoundIterators(Nest(write.path.begin(), write.path.begin() + scope)).size();
  std::vector<BoundIterator> all = BoundIterators(write.path);
  VarSet reducing = ReducingVars({all.begin() + outside, all.end()});
  std::vector<For> loops;
  for (size_t d = scope; d < write.path.size(); ++d) {
    auto loop = write.path[d].as<For>();
    if (loop && reducing.count(loop.value().loop_var().get())) loops.push_back(loop.value());
  }
  return loops;
}

void CheckComplete(const std::vector<Access>& accesses, const Access& write) {
  for (const For& loop : FoldingLoops(write)) {
    for (const Access& read : accesses) {
      if (read.is_write() || !read.buffer.same_as(write.buffer) || !Holds(read.path, loop)) continue;
      if (read.Block()->same_as(*write.Block())) continue;
      std::string name = write.buffer.name();
      RefuseSchedule(read, "a read of " + name + " in loop `" + std::string(loop.loop_var().name()) +
                               "`, which folds into it", "a read after the loops of the reduction",
                     "move the block (reverse_compute_at) above the loops that reduce");
    }
  }
}

void CheckWrittenFirst(const Access& first, const VarSet& params) {
  if (first.is_write() || params.count(first.buffer.get())) return;
  RefuseSchedule(first, "a read of " + std::string(first.buffer.name()) + " before it is written",
                 "a copy above all that reads it, extents of loops included",
                 "do not move the copy of a structure array into a loop that depends on it");
}

bool LoadsIn(const Access& access) {
  for (const BoundIterator& it : BoundIterators(access.path)) {
    if (!Collect<TensorLoad>(it.value).empty()) return true;
  }
  for (const ObjectRef& node : access.path) {
    if (auto loop = node.as<For>(); loop && !Collect<TensorLoad>(loop.value().extent()).empty()) return true;
  }
  return !Collect<TensorLoad>(access.store->indices()).empty();
}

// Conditions under which a cache is written, and which do not hold for its copy. Where a reduction starts the elements,
// only those above its loops count.
bool IsGuarded(const Access& write, const Access& copy) {
  std::vector<For> folding = FoldingLoops(write);
  for (const ObjectRef& node : write.path) {
    if (!folding.empty() && node.same_as(folding[0])) return false;
    if (node.as<IfThenElse>() && !Holds(copy.path, node)) return true;
  }
  return false;
}

void CheckCopy(const Access& copy, const Access& write) {
  std::string name = write.buffer.name();
  if (IsGuarded(write, copy)) {
    RefuseSchedule(copy, "a copy of " + name + ", where `" + write.BlockName() + "` writes under a condition",
                   "a cache whose elements are all written", "do not apply cache_write to `" + write.BlockName() + "`");
  }
  if (!Collect<TensorLoad>(write.store->indices()).empty() && !LoadsIn(copy)) {
    RefuseSchedule(copy, "a copy of all of " + name + ", where `" + write.BlockName() + "` writes stored positions only",
                   "a copy of the positions that are written",
                   "move the copy (reverse_compute_at) into the loops over the positions");
  }
}
}  // namespace

void CheckSchedule(const PrimFunc& f) {
  VarSet params;
  for (const Var& p : f.params()) params.insert(p.get());
  std::vector<Access> accesses = AccessCollector().Run(f);
  std::unordered_map<Identity, Access> first, first_write;
  for (const Access& access : accesses) {
    if (first.emplace(access.buffer.get(), access).second) CheckWrittenFirst(access, params);
    if (!access.is_write()) continue;
    first_write.emplace(access.buffer.get(), access);
    CheckComplete(accesses, access);
    auto load = access.store->value().as<TensorLoad>();
    auto cache = load ? first_write.find(load.value().source().get()) : first_write.end();
    if (cache != first_write.end() && !params.count(cache->first)) CheckCopy(access, cache->second);
  }
}
}  // namespace sparse_tir
