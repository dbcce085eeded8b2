// Typed views of TVM's IR nodes, made with the headers of apache-tvm-ffi only.
//
// The apache-tvm wheel ships no compiler headers, so no field layout of TVM is assumed: a field is read through its
// reflection getter and a node is made by its registered constructor. `python/sparse_tir/_base.py` checks before this
// library is opened that every type and field named in nodes.h exists.
#pragma once
#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/ffi/extra/structural_mutate.h>
#include <tvm/ffi/extra/structural_visit.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/accessor.h>
#include <tvm/ffi/reflection/registry.h>
#include <tvm/ffi/tvm_ffi.h>

namespace sparse_tir {
namespace ffi = tvm::ffi;
namespace refl = tvm::ffi::reflection;
using ffi::Any, ffi::Array, ffi::Map, ffi::ObjectRef, ffi::Optional, ffi::String;

// A reference class that is NOT nullable as far as FFI matching goes (a nullable class would make structural
// callbacks fire on every FFI None), yet default constructible, so that it can be a member.
#define ST_REF_METHODS(Name, Base, Obj)                           \
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Name, Base, Obj); \
  Name() : Base(ffi::UnsafeInit{}) {}                             \
  explicit Name(ffi::ObjectPtr<Obj> n) : Base(std::move(n)) {}

// An opaque node tag, looked up and never registered here, plus a reference class with accessors.
#define ST_VIEW(Name, Base, Key, Depth, ...)       \
  struct Name##Obj : public Base::ContainerType {  \
    TVM_FFI_DECLARE_OBJECT_INFO_LOOKUP(Key, Depth) \
  };                                               \
  struct Name : public Base {                      \
    ST_REF_METHODS(Name, Base, Name##Obj)          \
    __VA_ARGS__                                    \
  };

// A reflected field declared by the node type `key`; the getter is looked up once per process.
#define ST_FIELD_OF(key, field, ...)                                                       \
  __VA_ARGS__ field() const {                                                              \
    static const refl::FieldGetter get(key, #field);                                       \
    return get(static_cast<const ffi::Object*>(data_.get())).template cast<__VA_ARGS__>(); \
  }
#define ST_FIELD(field, ...) ST_FIELD_OF(ContainerType::_type_key, field, __VA_ARGS__)

// A registered function of TVM, looked up once per call site.
#define ST_GLOBAL(name)                                                    \
  ([]() -> const ffi::Function& {                                          \
    static const ffi::Function f = ffi::Function::GetGlobalRequired(name); \
    return f;                                                              \
  }())

template <typename R, typename... Args>
inline R Call(const ffi::Function& f, Args&&... args) {
  return f(std::forward<Args>(args)...).template cast<R>();
}
}  // namespace sparse_tir
