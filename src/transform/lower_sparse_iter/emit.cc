#include "emit.h"

namespace sparse_tir {
namespace lower_sparse_iter {
using namespace tir;

namespace {
class LevelEmitter {
 public:
  LevelEmitter(const SparseIteration& iteration, bool as_reduction, const MakePayload& payload)
      : iteration_(iteration), as_reduction_(as_reduction), payload_(payload) {}

  Stmt Level(size_t begin, const Coordinates& around) const {
    Coordinates here = around;
    Header header;
    size_t end = begin;
    for (; end < iteration_.iterators.size() && !OpensLevel(end, begin); ++end) {
      EnterAxis(iteration_.iterators[end], &here, &header);
    }
    bool innermost = end == iteration_.iterators.size();
    Payload payload = innermost ? payload_(here, header.guard) : Payload{std::nullopt, Level(end, here), {}, {}};
    if (!innermost && header.guard) payload.body = MakeIf(*header.guard, payload.body);
    Stmt stmt =
        MakePayloadBlock(innermost ? iteration_.name : LevelName(begin, end), header.iter_vars, header.values, payload);
    for (size_t k = header.loops.size(); k-- > 0;) stmt = MakeFor(header.loops[k], header.extents[k], stmt);
    return stmt;
  }

 private:
  struct Header {
    Array<IterVar> iter_vars;
    Array<Expr> values;
    std::vector<Var> loops;
    std::vector<Expr> extents;
    std::optional<Expr> guard;
  };

  bool OpensLevel(size_t index, size_t begin) const {
    const Axis& axis = iteration_.iterators[index].axis;
    if (!IsVariable(axis)) return false;
    for (size_t i = begin; i < index; ++i) {
      if (iteration_.iterators[i].axis.same_as(ParentOf(axis).value())) return true;
    }
    return false;
  }

  void EnterAxis(const SparseIterator& it, Coordinates* here, Header* header) const {
    Var loop = MakeVar(it.var.name(), Int(64)), position = MakeVar("v" + std::string(it.var.name()), Int(64));
    Expr extent = here->Extent(it.axis);
    // The domain of a data-dependent loop is bounded by what the axis stores in all.
    Expr domain = IsVariable(it.axis) ? CastTo(PositionsOf(it.axis), DTypeOf(loop)) : extent;
    bool reduce = as_reduction_ && it.is_reduction;
    header->iter_vars.push_back(MakeIterVar(domain, position, reduce ? kCommReduce : kDataPar));
    header->values.push_back(loop);
    header->loops.push_back(loop);
    header->extents.push_back(extent);
    here->Enter(it, position);
    if (IsPadded(it.axis)) {
      Expr stored = here->IsNotPadding(it.axis);
      header->guard = header->guard ? *header->guard && stored : stored;
    }
  }

  String LevelName(size_t begin, size_t end) const {
    std::string name = iteration_.name;
    for (size_t i = begin; i < end; ++i) name += "_" + std::string(iteration_.iterators[i].axis->name);
    return name;
  }

  const SparseIteration& iteration_;
  bool as_reduction_;
  const MakePayload& payload_;
};

TensorRegion WholeArray(const Var& buffer) {
  Array<Range> region;
  for (const Expr& extent : BufferTypeOf(buffer).shape()) region.push_back(MakeRange(IntLit(0, extent.ty()), extent));
  return MakeRegion(buffer, region);
}

// What a store writes: all along a dimension where a scalar of the block selects.
TensorRegion Written(const BufferStore& store, const VarSet& scalars) {
  Array<Range> region;
  Array<Expr> shape = BufferTypeOf(store.buffer()).shape(), indices = store.indices();
  for (size_t d = 0; d < indices.size(); ++d) {
    bool is_known = !Mentions(indices[d], scalars);
    region.push_back(is_known ? MakeRange(indices[d], IntLit(1, indices[d].ty()))
                              : MakeRange(IntLit(0, shape[d].ty()), shape[d]));
  }
  return MakeRegion(store.buffer(), region);
}

Regions RegionsOfSearch(const Payload& payload) {
  VarSet seen;
  for (const Var& scalar : payload.scalars) seen.insert(scalar.get());
  Regions regions;
  for (const BufferStore& store : Collect<BufferStore>(payload.body)) {
    if (!seen.count(store.buffer().get())) regions.writes.push_back(Written(store, seen));
  }
  for (const TensorLoad& load : Collect<TensorLoad>(payload.body)) {
    Var buffer = load.source().as<Var>().value();
    bool folds = payload.init.has_value() && regions.writes[0].source().same_as(buffer);
    if (!folds && seen.insert(buffer.get()).second) regions.reads.push_back(WholeArray(buffer));
  }
  return regions;
}
}  // namespace

Stmt MakePayloadBlock(const String& name, const Array<IterVar>& iters, const Array<Expr>& values,
                      const Payload& payload) {
  if (payload.scalars.empty()) {
    return MakeBlock(name, iters, values, payload.init, payload.body, payload.annotations);
  }
  Map<String, Any> annotations = payload.annotations;
  annotations.Set(names::kSearch, true);
  return MakeBlock(name, iters, values, payload.init, payload.body, annotations, payload.scalars,
                   RegionsOfSearch(payload));
}

Stmt EmitLevels(const SparseIteration& iteration, const Coordinates& around, bool as_reduction,
                const MakePayload& payload) {
  return LevelEmitter(iteration, as_reduction, payload).Level(0, around);
}
}  // namespace lower_sparse_iter
}  // namespace sparse_tir
