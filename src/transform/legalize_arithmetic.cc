// LegalizeArithmetic: gives value arithmetic the meaning that laws 5 and 8 demand, where TVM's is another.
//
// \pre loops (no stage). \post the same values on every target.
//
//  * max and min of floats propagate NaN: TVM's compare-and-select loses one that comes first.
//  * differences, products and comparisons of floats obey IEEE: TVM's simplifier takes `x - x` and `0 * x` for 0,
//    `x == x` and `x < y or x >= y` for true, and turns `not (x < y)` into `x >= y`.
//  * integer sums, differences and products wrap: TVM's bounds take them for exact, and in its LLVM code the overflow
//    of signed and of unsigned ones is undefined.
//  * integer division by zero gives 0, and by -1 it negates with wrapping: the machine would trap.
//
// Subscripts and searched positions are left alone: addresses are int64 and do not overflow.
#include "divisions.h"
#include "pass.h"

namespace sparse_tir {
namespace {
using namespace tir;
using Binary = std::function<Expr(const Expr&, const Expr&)>;

bool IsFloat(const Expr& e) { return DTypeOf(e).code == kDLFloat || DTypeOf(e).code == kDLBfloat; }
bool IsSigned(const Expr& e) { return DTypeOf(e).code == kDLInt; }
bool IsInteger(const Expr& e) { return IsSigned(e) || DTypeOf(e).code == kDLUInt; }
bool IsSimple(const Expr& e) { return e.as<Var>() || e.as<TensorLoad>() || e.as<IntImm>() || e.as<FloatImm>(); }

Expr Reinterpret(const Expr& e, DLDataType t) {
  return Call<Expr>(ST_GLOBAL("tirx.reinterpret"), MakePrimType(t), e, nullptr);
}

DLDataType WithCode(DLDataType t, int code) {
  t.code = static_cast<uint8_t>(code);
  return t;
}

// A zero that TVM takes for any number.
Expr UnknownZero(DLDataType t) {
  constexpr DLDataType kFloat{kDLFloat, 32, 1}, kInt{kDLInt, 32, 1};
  Expr zero = Call<Expr>(ST_GLOBAL("ir.FloatImm"), kFloat, 0.0, nullptr);
  return CastTo(Reinterpret(zero, kInt), t);
}

// The same value, of which TVM's simplifier and its bounds know nothing; machine code does not grow.
Expr Opaque(const Expr& e) {
  DLDataType t = DTypeOf(e);
  if (IsFloat(e)) return Reinterpret(Reinterpret(e, WithCode(t, kDLUInt)), t);
  return Call<Expr>(ST_GLOBAL("prim.bitwise_or"), e, UnknownZero(t), nullptr);
}

// Names for values that a store uses several times. They are bound before the store; where a choice may leave a part
// unevaluated, its values are repeated instead. (Not `Let`: TVM's elimination of common subexpressions fails on nested
// ones.)
class Temporaries {
 public:
  Expr Once(const Expr& e, const char* name) {
    if (IsSimple(e) || choices_ > 0) return e;
    Var v = MakeVar(name, e.ty());
    binds_.push_back(Call<Stmt>(ST_GLOBAL("tirx.Bind"), v, Opaque(e), nullptr));
    return v;
  }
  void EnterChoice() { ++choices_; }
  void LeaveChoice() { --choices_; }
  Stmt Before(const Stmt& store) const {
    Array<Stmt> seq = binds_;
    seq.push_back(store);
    return MakeSeq(seq);
  }

 private:
  Array<Stmt> binds_;
  int choices_ = 0;
};

// ---- integers
// The operation in twice the width, where it is exact: what TVM and LLVM (whose unsigned operations must not overflow
// either) conclude there is right. LLVM narrows it again.
Expr Wrapping(const Expr& a, const Expr& b, const Binary& op, int wide_code = kDLInt) {
  DLDataType narrow = DTypeOf(a), wide = WithCode(narrow, wide_code);
  wide.bits = static_cast<uint8_t>(2 * narrow.bits);
  return CastTo(Opaque(op(CastTo(a, wide), CastTo(b, wide))), narrow);
}

// The outer choices are made on an opaque divisor: TVM evaluates both sides of a selection, but simplifies each under
// its condition, which would take the inner guard away.
Expr SafeQuotient(const Expr& x, const Expr& y, bool is_quotient, const Binary& op) {
  Expr zero = IntLit(0, x.ty()), hidden = Opaque(y);
  Expr quotient = op(x, NonTrapping(y));
  if (!IsSigned(x)) return MakeSelect(Equal(hidden, zero), zero, quotient);
  Expr minus_one = IntLit(-1, x.ty());
  Expr negated = is_quotient ? Wrapping(zero, x, [](const Expr& p, const Expr& q) { return p - q; }) : zero;
  return MakeSelect(Equal(hidden, zero), zero, MakeSelect(Equal(hidden, minus_one), negated, quotient));
}

Expr SafeDivision(const Expr& a, const Expr& b, bool is_quotient, const Binary& op, Temporaries* temporaries) {
  if (CannotTrap(b)) return op(a, b);
  return SafeQuotient(temporaries->Once(a, "dividend"), temporaries->Once(b, "divisor"), is_quotient, op);
}

// ---- floats
// Not `x != x`: TVM's simplifier takes that for false.
Expr IsNaN(const Expr& x) { return Call<Expr>(ST_GLOBAL("tirx.isnan"), x, nullptr); }

Expr PropagatingNaN(const Expr& a, const Expr& b, bool is_max, Temporaries* temporaries) {
  Expr x = temporaries->Once(a, "lhs"), y = temporaries->Once(b, "rhs");
  return MakeSelect((is_max ? x > y : x < y) || IsNaN(x), x, y);
}

// A factor that TVM might find to be 0 and multiply away: a constant, also one that a guard may choose, and what is
// computed of loop variables.
Expr KeptFactor(const Expr& e) {
  if (Collect<TensorLoad>(e).empty()) return Opaque(e);
  return ffi::StructuralMutate(
             e, [](const TensorLoad& n, ffi::StructuralMutatorObj*) -> ffi::Expected<Any> { return Any(n); },
             [](const FloatImm& n, ffi::StructuralMutatorObj*) -> ffi::Expected<Any> {
               return n.value() == 0 ? Any(Opaque(n)) : Any(n);
             })
      .template cast<Expr>();
}

// The simplifier completes `x < y or y <= x` to true, and cancels equal sides. It finds no pair if the lesser side is
// opaque.
Expr Less(const Expr& a, const Expr& b) { return Opaque(a) < b; }
Expr LessEqual(const Expr& a, const Expr& b) { return Opaque(a) <= b; }
Expr Unordered(const Expr& a, const Expr& b) { return IsNaN(a) || IsNaN(b); }

// Not of a comparison that is legal already.
Expr Negated(const Expr& e) {
  auto either_nan = [](const auto& n, const Expr& other) { return other || Unordered(n.a(), n.b()); };
  auto is_float = [](const auto& n) { return n && IsFloat(n.value().a()); };
  if (auto n = e.as<LT>(); is_float(n)) return either_nan(n.value(), LessEqual(n.value().b(), n.value().a()));
  if (auto n = e.as<LE>(); is_float(n)) return either_nan(n.value(), Less(n.value().b(), n.value().a()));
  if (auto n = e.as<EQ>(); is_float(n)) return either_nan(n.value(), NotEqual(n.value().a(), n.value().b()));
  if (auto n = e.as<Or>()) return Negated(n.value().a()) && Negated(n.value().b());
  if (auto n = e.as<And>()) return Negated(n.value().a()) || Negated(n.value().b());
  if (auto n = e.as<Not>()) return n.value().a();
  return Call<Expr>(ST_GLOBAL("prim.Not"), e, nullptr);
}

// ---- the rules
template <typename Node, typename Rule>
auto On(Rule rule) {
  return [rule](const Node& n, ffi::StructuralMutatorObj* mutator) -> ffi::Expected<Any> {
    ffi::Expected<Any> done = MutateDefault(n, mutator);
    if (done.is_err()) return done;
    Any result = std::move(done).value();
    auto node = result.template as<Node>();
    return node ? Any(rule(node.value())) : result;
  };
}

Expr LegalSum(const Add& n) {
  return IsInteger(n) ? Wrapping(n.a(), n.b(), [](const Expr& p, const Expr& q) { return p + q; }) : Expr(n);
}
Expr LegalDifference(const Sub& n) {
  if (IsInteger(n)) return Wrapping(n.a(), n.b(), [](const Expr& p, const Expr& q) { return p - q; });
  return IsFloat(n) ? n.a() - Opaque(n.b()) : Expr(n);
}
Expr LegalProduct(const Mul& n) {
  auto op = [](const Expr& p, const Expr& q) { return p * q; };
  if (IsInteger(n)) return Wrapping(n.a(), n.b(), op, DTypeOf(n).code);
  return IsFloat(n) ? KeptFactor(n.a()) * KeptFactor(n.b()) : Expr(n);
}
template <typename Node>
Expr LegalComparison(const Node& n, const Binary& op) {
  return IsFloat(n.a()) ? op(n.a(), n.b()) : Expr(n);
}
Expr FloatQuotient(const Expr& a, const Expr& b) {
  return Call<Expr>(ST_GLOBAL("prim._OpDiv"), KeptFactor(a), KeptFactor(b), nullptr);
}

// Whether every integer of one type is one of the other.
bool Holds(DLDataType wide, DLDataType narrow) {
  bool gains_sign = wide.code == kDLInt && narrow.code == kDLUInt;
  return (wide.code == narrow.code || gains_sign) && wide.bits >= narrow.bits + (gains_sign ? 1 : 0);
}

// TVM's bounds of an integer that wraps in a cast are those before it: the guard of such a subscript would be dropped.
Expr LegalCast(const Cast& n) {
  bool wraps = IsInteger(n) && IsInteger(n.value()) && !Holds(DTypeOf(n), DTypeOf(n.value()));
  return wraps ? Opaque(n) : Expr(n);
}

// A call; of if_then_else one branch is evaluated.
ffi::Expected<Any> LegalCall(const CallExpr& n, ffi::StructuralMutatorObj* mutator, Temporaries* temporaries) {
  auto op = n.op().as<Op>();
  bool is_choice = op && op.value().name() == "prim.if_then_else";
  if (is_choice) temporaries->EnterChoice();
  ffi::Expected<Any> done = MutateDefault(n, mutator);
  if (is_choice) temporaries->LeaveChoice();
  return done;
}

Expr LegalValue(const Expr& value, Temporaries* t) {
  using Mutator = ffi::StructuralMutatorObj*;
  auto trunc_div = [](const Expr& p, const Expr& q) {
    return Call<Expr>(ST_GLOBAL("prim._OpTruncDiv"), p, q, nullptr);
  };
  auto trunc_mod = [](const Expr& p, const Expr& q) {
    return Call<Expr>(ST_GLOBAL("prim._OpTruncMod"), p, q, nullptr);
  };
  auto equal = [](const Expr& p, const Expr& q) { return Equal(Opaque(p), q); };
  auto unequal = [](const Expr& p, const Expr& q) { return NotEqual(Opaque(p), q) || Unordered(p, q); };
  auto greater = [](const Expr& p, const Expr& q) { return Less(q, p); };
  auto greater_equal = [](const Expr& p, const Expr& q) { return LessEqual(q, p); };
  auto divide = [t](const auto& n, bool is_quotient, const Binary& op) {
    return IsInteger(n) ? SafeDivision(n.a(), n.b(), is_quotient, op, t) : Expr(n);
  };
  auto extreme = [t](const auto& n, bool is_max) {
    return IsFloat(n) ? PropagatingNaN(n.a(), n.b(), is_max, t) : Expr(n);
  };
  return ffi::StructuralMutate(
             value, [](const TensorLoad& n, Mutator) -> ffi::Expected<Any> { return Any(n); },
             [t](const CallExpr& n, Mutator m) { return LegalCall(n, m, t); },  //
             On<Cast>(LegalCast),                                               //
             On<Add>(LegalSum), On<Sub>(LegalDifference), On<Mul>(LegalProduct), On<Div>([=](const Div& n) {
               return IsFloat(n) ? FloatQuotient(n.a(), n.b()) : divide(n, true, trunc_div);
             }),
             On<Mod>([=](const Mod& n) { return divide(n, false, trunc_mod); }),
             On<FloorDiv>([=](const FloorDiv& n) { return divide(n, true, FloorDivide); }),
             On<FloorMod>([=](const FloorMod& n) { return divide(n, false, FloorModulo); }),
             On<Max>([=](const Max& n) { return extreme(n, true); }),
             On<Min>([=](const Min& n) { return extreme(n, false); }),
             On<LT>([](const LT& n) { return LegalComparison(n, Less); }),
             On<LE>([](const LE& n) { return LegalComparison(n, LessEqual); }),
             On<GT>([=](const GT& n) { return LegalComparison(n, greater); }),
             On<GE>([=](const GE& n) { return LegalComparison(n, greater_equal); }),
             On<EQ>([=](const EQ& n) { return LegalComparison(n, equal); }),
             On<NE>([=](const NE& n) { return LegalComparison(n, unequal); }),
             On<Not>([](const Not& n) { return Negated(n.a()); }))
      .template cast<Expr>();
}

PrimFunc LegalizeArithmetic(const PrimFunc& f) {
  RequireStage(f, "LegalizeArithmetic", "");
  VarSet positions;  // scalars of searches
  for (const SBlock& block : Collect<SBlock>(f.body())) {
    if (!block.annotations().count(names::kSearch)) continue;
    for (const Var& scalar : block.alloc_buffers()) positions.insert(scalar.get());
  }
  Stmt body =
      ffi::StructuralMutate(f.body(), [&](const BufferStore& s, ffi::StructuralMutatorObj*) -> ffi::Expected<Any> {
        if (positions.count(s.buffer().get())) return Any(s);
        Temporaries temporaries;
        Expr value = LegalValue(s.value(), &temporaries);
        return Any(temporaries.Before(Store(s.buffer(), value, s.indices())));
      }).template cast<Stmt>();
  return WithBody(f, body);
}
}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() { RegisterPass("LegalizeArithmetic", LegalizeArithmetic); }
}  // namespace sparse_tir
