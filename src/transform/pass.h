// Registration of function passes: each is an ordinary TVM pass, timed by TVM's instruments.
#pragma once
#include <string>

#include "../ir/names.h"
#include "../tvm_view/build.h"

namespace sparse_tir {
// Registers `sparse_tir.transform.<name>`, which returns the pass. `run` maps a PrimFunc to a PrimFunc.
template <typename Run>
void RegisterPass(const std::string& name, Run run) {
  auto make = [name, run]() {
    String full = "sparse_tir." + name;
    ObjectRef info = Call<ObjectRef>(ST_GLOBAL("transform.PassInfo"), /*opt_level=*/0, full,
                                     /*required=*/Array<String>(), /*traceable=*/false);
    auto apply = [run](ffi::RValueRef<tir::PrimFunc> f, ObjectRef, ObjectRef) { return run(*std::move(f)); };
    return Call<ObjectRef>(ST_GLOBAL("tirx.transform.CreatePrimFuncPass"), ffi::Function::FromTyped(apply), info);
  };
  refl::GlobalDef().def(("sparse_tir.transform." + name).c_str(), make);
}

// The value of the attribute sparse_tir.stage; "" if it is absent.
std::string StageOf(const tir::PrimFunc& f);
// Throws ST420 unless the function is at the stage that `pass` takes.
void RequireStage(const tir::PrimFunc& f, const char* pass, const std::string& stage);
}  // namespace sparse_tir
