// What TVM's schedule accepts although it changes values: what must be refused once a schedule is complete.
#pragma once
#include "../tvm_view/visit.h"

namespace sparse_tir {
// \pre stage "position", scheduled. Throws ST422 where
//  * a buffer is read inside a loop that is still folding into it (a copy of sums that are not complete),
//  * an allocated buffer is read before it is written (a copy that was moved into a loop whose extent reads it),
//  * a copy overwrites elements that its cache never got (the cached store is guarded, or reaches positions only).
void CheckSchedule(const tir::PrimFunc& f);
}  // namespace sparse_tir
