// Launches of kernels, one fiber per thread.
#pragma once
#include <cstdint>

#include "emulator.h"

namespace emulator {
enum class Order { kForward, kReverse, kRandom };

// Before the first launch: the order of threads and blocks, and the seed of a random one.
void SetOrder(Order order, uint64_t seed);

void Launch(int kernel, Index3 grid, Index3 block, void** arguments);

// Whether the address is in the unreadable part below a fiber's stack.
bool IsStackGuard(const void* address);

// Writes one line, "kind<TAB>detail<TAB>kernel<TAB>block<TAB>thread", and ends the process. May run in a signal
// handler.
[[noreturn]] void Report(const char* kind, const char* detail);
}  // namespace emulator
