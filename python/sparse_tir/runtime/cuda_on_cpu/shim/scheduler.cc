#include "scheduler.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

// Where __shared__ variables are: the linker gives the bounds of the section, if there is one.
extern "C" char __start_emulator_shared[] __attribute__((weak));
extern "C" char __stop_emulator_shared[] __attribute__((weak));

namespace emulator {
namespace {
constexpr int kMaxThreads = 1024;
constexpr size_t kStackBytes = 256 << 10, kGuardBytes = 64 << 10;  // address space, mostly
constexpr int kErrorStatus = 3;

// A barrier of the threads that have not returned: a thread that has returned no longer takes part.
class Barrier {
 public:
  explicit Barrier(int live = 0) : live_(live) {}
  int live() const { return live_; }
  void Wait();
  void Leave() {
    if (--live_ > 0 && arrived_ == live_) Release();
  }

 private:
  void Release() {
    arrived_ = 0;
    ++generation_;
  }
  int live_;
  int arrived_ = 0;
  long generation_ = 0;
};
}  // namespace

struct Warp {
  Barrier barrier;
  unsigned active = 0;
  uint64_t slots[kWarpSize];
};

ThreadState* current = nullptr;
Index3 block_index, block_extent, grid_extent;

namespace {
struct Fiber : ThreadState {
  ucontext_t context;
  bool is_done;
};

Order order = Order::kForward;
std::mt19937_64 generator;
ucontext_t scheduler_context;
Barrier block_barrier;
Warp warps[kMaxThreads / kWarpSize];
char* stacks = nullptr;
long steps = 0;  // arrivals at barriers and returns: a round without any is a deadlock
int running_kernel = -1;
void** running_arguments = nullptr;

void Yield() { swapcontext(&static_cast<Fiber*>(current)->context, &scheduler_context); }

void Barrier::Wait() {
  ++steps;
  if (++arrived_ == live_) return Release();
  for (long mine = generation_; mine == generation_;) Yield();
}

void FiberMain() {
  CallKernel(running_kernel, running_arguments);
  Fiber* fiber = static_cast<Fiber*>(current);
  fiber->is_done = true;
  ++steps;
  fiber->warp->active &= ~(1u << fiber->lane);
  fiber->warp->barrier.Leave();
  block_barrier.Leave();
  setcontext(&scheduler_context);
}

void Arrange(std::vector<int>* sequence) {
  if (order == Order::kRandom) std::shuffle(sequence->begin(), sequence->end(), generator);
}

std::vector<int> Sequence(int n) {
  std::vector<int> sequence(n);
  std::iota(sequence.begin(), sequence.end(), 0);
  if (order == Order::kReverse) std::reverse(sequence.begin(), sequence.end());
  return sequence;
}

void StartFiber(Fiber* fiber, int linear) {
  fiber->thread = {linear % block_extent.x, linear / block_extent.x % block_extent.y,
                   linear / (block_extent.x * block_extent.y)};
  fiber->lane = linear % kWarpSize;
  fiber->warp = &warps[linear / kWarpSize];
  fiber->is_done = false;
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = stacks + linear * kStackBytes + kGuardBytes;
  fiber->context.uc_stack.ss_size = kStackBytes - kGuardBytes;
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, FiberMain, 0);
}

void RunBlock(std::vector<Fiber>* fibers) {
  int n = static_cast<int>(fibers->size());
  if (__start_emulator_shared) memset(__start_emulator_shared, 0xff, __stop_emulator_shared - __start_emulator_shared);
  block_barrier = Barrier(n);
  for (int first = 0; first < n; first += kWarpSize) {
    int live = std::min(kWarpSize, n - first);
    Warp& warp = warps[first / kWarpSize];
    warp.barrier = Barrier(live);
    warp.active = live == kWarpSize ? ~0u : (1u << live) - 1;
  }
  for (int i = 0; i < n; ++i) StartFiber(&(*fibers)[i], i);
  std::vector<int> sequence = Sequence(n);
  while (block_barrier.live()) {
    long before = steps;
    Arrange(&sequence);
    for (int i : sequence) {
      if ((*fibers)[i].is_done) continue;
      current = &(*fibers)[i];
      swapcontext(&scheduler_context, &(*fibers)[i].context);
    }
    if (before == steps) {
      char text[64];
      snprintf(text, sizeof text, "%d", block_barrier.live());
      Report("deadlock", text);
    }
  }
}

void MapStacks() {
  if (stacks) return;
  size_t bytes = kMaxThreads * kStackBytes;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) Refuse("no memory for the stacks of the threads");
  stacks = static_cast<char*>(memory);
  for (int i = 0; i < kMaxThreads; ++i) mprotect(stacks + i * kStackBytes, kGuardBytes, PROT_NONE);
}
}  // namespace

void SyncBlock() { block_barrier.Wait(); }
void SyncWarp() { current->warp->barrier.Wait(); }
unsigned ActiveMask() { return current->warp->active; }
uint64_t* Slot(int lane) { return &current->warp->slots[lane]; }

void SetOrder(Order chosen, uint64_t seed) {
  order = chosen;
  generator.seed(seed);
}

bool IsStackGuard(const void* address) {
  const char* at = static_cast<const char*>(address);
  if (!stacks || at < stacks || at >= stacks + kMaxThreads * kStackBytes) return false;
  return static_cast<size_t>(at - stacks) % kStackBytes < kGuardBytes;
}

void Launch(int kernel, Index3 grid, Index3 block, void** arguments) {
  MapStacks();
  running_kernel = kernel;
  running_arguments = arguments;
  grid_extent = grid;
  block_extent = block;
  std::vector<Fiber> fibers(block.x * block.y * block.z);
  std::vector<int> sequence = Sequence(grid.x * grid.y * grid.z);
  Arrange(&sequence);
  for (int b : sequence) {
    block_index = {b % grid.x, b / grid.x % grid.y, b / (grid.x * grid.y)};
    RunBlock(&fibers);
  }
  current = nullptr;
}

void Report(const char* kind, const char* detail) {
  char line[1024];
  Index3 b = block_index, t = current ? current->thread : Index3{0, 0, 0};
  int length = snprintf(line, sizeof line, "%s\t%s\t%s\t(%d, %d, %d)\t(%d, %d, %d)\n", kind, detail,
                        running_kernel < 0 ? "" : KernelName(running_kernel), b.x, b.y, b.z, t.x, t.y, t.z);
  ssize_t written = write(STDOUT_FILENO, line, std::min<size_t>(length, sizeof line - 1));
  _exit(written < 0 ? kErrorStatus + 1 : kErrorStatus);
}

void Refuse(const char* what) { Report("refused", what); }
}  // namespace emulator
