#include "search.h"

namespace sparse_tir {
namespace lower_sparse_iter {
using namespace tir;

namespace {
Expr Get(const Var& scalar) { return Load(scalar, {Int64(0)}); }
Stmt Set(const Var& scalar, const Expr& value) { return Store(scalar, value, {Int64(0)}); }
Expr IndexAt(const SearchRange& range, const Expr& position) {
  return CastTo(Load(range.indices, {position}), DLDataType{kDLInt, 64, 1});
}
}  // namespace

Var Searches::Scalar(const char* name) {
  Var scalar = MakeBuffer(name, Int(64), {Int64(1)}, /*alignment=*/8, "local");
  scalars_.push_back(scalar);
  return scalar;
}

Expr Searches::Find(const SearchRange& range, const Expr& coordinate) {
  for (const Known& k : found_) {
    if (k.axis.same_as(range.axis) && SameExpr(k.begin, range.begin) && SameExpr(k.coordinate, coordinate)) {
      return k.position;
    }
  }
  Var key = Scalar("key"), found = Scalar("found");
  loops_.push_back(Set(key, coordinate));
  if (range.axis->sorted) {
    Bisect(range, key, found);
  } else {
    Scan(range, key, found);
  }
  found_.push_back({range.axis, range.begin, coordinate, Get(found)});
  return Get(found);
}

Expr Searches::Hold(const Expr& value) {
  for (const auto& [known, scalar] : held_) {
    if (SameExpr(known, value)) return scalar;
  }
  Var scalar = Scalar("held");
  loops_.push_back(Set(scalar, value));
  held_.emplace_back(value, Get(scalar));
  return Get(scalar);
}

void Searches::Bisect(const SearchRange& range, const Var& key, const Var& found) {
  Var low = Scalar("low"), high = Scalar("high"), end = Scalar("end");
  loops_.push_back(Set(low, range.begin));
  loops_.push_back(Set(end, range.end));
  loops_.push_back(Set(high, Get(end)));
  // Invariant: entries before low are less than the key, entries from high on are not.
  Expr middle = Get(low) + FloorDivide(Get(high) - Get(low), Int64(2));
  Stmt halve = MakeIfElse(IndexAt(range, middle) < Get(key), Set(low, middle + Int64(1)), Set(high, middle));
  loops_.push_back(MakeWhile(Get(low) < Get(high), halve));
  Expr is_stored = IfThenElseExpr(Get(low) < Get(end), Equal(IndexAt(range, Get(low)), Get(key)), IntLit(0, Bool()));
  loops_.push_back(Set(found, IfThenElseExpr(is_stored, Get(low), Int64(-1))));
}

void Searches::Scan(const SearchRange& range, const Var& key, const Var& found) {
  Var offset = MakeVar("offset", Int(64));
  Expr position = range.begin + offset;
  loops_.push_back(Set(found, Int64(-1)));
  Stmt compare = MakeIf(Equal(IndexAt(range, position), Get(key)), Set(found, position));
  loops_.push_back(MakeFor(offset, range.end - range.begin, compare));
}

Stmt Searches::Before(const Stmt& statement) const {
  Array<Stmt> seq = loops_;
  seq.push_back(statement);
  return MakeSeq(seq);
}
}  // namespace lower_sparse_iter
}  // namespace sparse_tir
