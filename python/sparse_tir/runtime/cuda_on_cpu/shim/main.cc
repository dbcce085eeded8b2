// Runs a plan that stands on the standard input, one item per line:
//
//   order forward|reverse|random SEED
//   array FD ROOM OFFSET NBYTES         memory that Python shares; the array is at OFFSET of ROOM bytes
//   launch KERNEL GX GY GZ BX BY BZ N   followed by N arguments: "a ARRAY" or "s BITS", a scalar of up to 8 bytes
//
// Each array stands between unreadable guards. An access there ends in a report that names the array.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "scheduler.h"

namespace {
using emulator::Refuse;
using emulator::Report;

constexpr size_t kGuard = size_t{64} << 20;  // address space only
constexpr size_t kSignalStack = 64 << 10;

struct Array {
  char* lower;  // begin of the guard below
  char* upper;  // end of the guard above
  char* data;
};
std::vector<Array> arrays;

void OnFault(int number, siginfo_t* info, void*) {
  const char* at = static_cast<const char*>(info->si_addr);
  char text[96];
  if (number == SIGFPE) Report("divide", "");
  if (emulator::IsStackGuard(at)) Report("stack", "");
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (at < arrays[i].lower || at >= arrays[i].upper) continue;
    snprintf(text, sizeof text, "%zu %ld", i, static_cast<long>(at - arrays[i].data));
    Report("outside", text);
  }
  snprintf(text, sizeof text, "%p", static_cast<const void*>(at));
  Report("fault", text);
}

void CatchFaults() {
  static char memory[kSignalStack];
  stack_t alternate{};
  alternate.ss_sp = memory;
  alternate.ss_size = sizeof memory;
  sigaltstack(&alternate, nullptr);
  struct sigaction action{};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE}) sigaction(number, &action, nullptr);
}

Array MapArray(int fd, size_t room, size_t offset) {
  void* all = mmap(nullptr, room + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) Refuse("no address space for an array");
  char* inner = static_cast<char*>(all) + kGuard;
  void* shared = mmap(inner, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  if (shared == MAP_FAILED) Refuse("an array cannot be mapped");
  return {static_cast<char*>(all), inner + room + kGuard, inner + offset};
}

void ReadOrder() {
  char name[16];
  unsigned long long seed;
  if (scanf("%15s %llu", name, &seed) != 2) Refuse("the plan: order");
  emulator::Order order = !strcmp(name, "random")    ? emulator::Order::kRandom
                          : !strcmp(name, "reverse") ? emulator::Order::kReverse
                                                     : emulator::Order::kForward;
  emulator::SetOrder(order, seed);
}

void ReadArray() {
  int fd;
  size_t room, offset, nbytes;
  if (scanf("%d %zu %zu %zu", &fd, &room, &offset, &nbytes) != 4) Refuse("the plan: array");
  arrays.push_back(MapArray(fd, room, offset));
}

void ReadLaunch() {
  int kernel, n;
  emulator::Index3 grid, block;
  if (scanf("%d %d %d %d %d %d %d %d", &kernel, &grid.x, &grid.y, &grid.z, &block.x, &block.y, &block.z, &n) != 8) {
    Refuse("the plan: launch");
  }
  std::vector<unsigned long long> values(n);  // an address or the bits of a scalar
  std::vector<void*> arguments(n);
  for (int i = 0; i < n; ++i) {
    char kind;
    if (scanf(" %c %llu", &kind, &values[i]) != 2) Refuse("the plan: argument");
    if (kind == 'a') values[i] = reinterpret_cast<unsigned long long>(arrays.at(values[i]).data);
    arguments[i] = &values[i];
  }
  emulator::Launch(kernel, grid, block, arguments.data());
}
}  // namespace

// ---- what g++ calls under -fsanitize=bounds,alignment, in place of its own library: see its ubsan_value.h
struct SourceLocation {
  const char* file;
  uint32_t line, column;
};
struct TypeDescriptor {
  uint16_t kind, info;
  char name[1];
};
struct OutOfBounds {
  SourceLocation location;
  const TypeDescriptor& array;
  const TypeDescriptor& index;
};
struct TypeMismatch {
  SourceLocation location;
  const TypeDescriptor& type;
  unsigned char log_alignment;
  unsigned char check;
};

extern "C" void __ubsan_handle_out_of_bounds(OutOfBounds* data, uintptr_t index) {
  char text[160];
  snprintf(text, sizeof text, "%s at index %ld", data->array.name, static_cast<long>(index));
  Report("bounds", text);
}

extern "C" void __ubsan_handle_type_mismatch_v1(TypeMismatch* data, uintptr_t address) {
  char text[160];
  snprintf(text, sizeof text, "%s, %d bytes beside a multiple of %d", data->type.name,
           static_cast<int>(address & ((1u << data->log_alignment) - 1)), 1 << data->log_alignment);
  Report("misaligned", text);
}

int main() {
  CatchFaults();
  char item[16];
  while (scanf("%15s", item) == 1) {
    if (!strcmp(item, "order"))
      ReadOrder();
    else if (!strcmp(item, "array"))
      ReadArray();
    else if (!strcmp(item, "launch"))
      ReadLaunch();
    else
      Refuse("the plan: unknown item");
  }
  return 0;
}
