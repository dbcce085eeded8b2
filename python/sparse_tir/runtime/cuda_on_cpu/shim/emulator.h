// What a kernel compiled for the CPU needs of the emulator: where its thread is, barriers, exchange within a warp.
//
// One fiber per CUDA thread; blocks run one after another. A fiber runs until it meets a barrier, so between two
// barriers the threads of a block run in the order of the scheduler: forward, reverse or drawn from a seed.
#pragma once
#include <cstdint>

namespace emulator {
constexpr int kWarpSize = 32;

struct Index3 {
  int x, y, z;
};

struct Warp;

struct ThreadState {
  Index3 thread;  // threadIdx
  int lane;
  Warp* warp;
};

extern ThreadState* current;  // the fiber that runs
extern Index3 block_index, block_extent, grid_extent;

void SyncBlock();
void SyncWarp();
unsigned ActiveMask();  // the lanes of this warp that have not returned

// Eight bytes of each lane, for shuffles and votes: between two SyncWarp all lanes may read them.
uint64_t* Slot(int lane);

// Ends the process with a report that the Python side turns into an error.
[[noreturn]] void Refuse(const char* what);
}  // namespace emulator

// Generated for each source: calls kernel number `kernel` with the addresses of its arguments.
void CallKernel(int kernel, void** arguments);
// The name of a kernel, for reports.
const char* KernelName(int kernel);
