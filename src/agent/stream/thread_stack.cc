#include "agent/stream/thread_stack.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/clock.h"

namespace vesta::agent {
namespace {

constexpr size_t kFirstPieceBytes = VESTA_STACK_COPY_BYTES;
constexpr uint64_t kPage = 4096;

// As much as is there from `address` on: ends at the first page that is not mapped.
std::vector<char> read_memory(uint32_t pid, uint64_t address, size_t max_bytes) {
  std::vector<char> bytes(max_bytes);
  iovec local{bytes.data(), bytes.size()};
  iovec remote{reinterpret_cast<void*>(address),
               bytes.size()};  // NOLINT(performance-no-int-to-ptr)
  ssize_t got = ::process_vm_readv(static_cast<pid_t>(pid), &local, 1, &remote, 1, 0);
  if (got < 0) got = 0;
  bytes.resize(static_cast<size_t>(got));
  return bytes;
}

// By DWARF number.
std::array<uint64_t, VESTA_LEAF_REGISTERS> leaf_registers(const user_registers& r) {
  return {r.ax, r.dx, r.cx,  r.bx,  r.si,  r.di,  r.bp,  r.sp,
          r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
}

template <class T>
void append(std::vector<char>& out, const T* values, size_t count) {
  const auto* begin = reinterpret_cast<const char*>(values);
  out.insert(out.end(), begin, begin + count * sizeof(T));
}

}  // namespace

ThreadRecord copy_thread(const vesta_thread& thread, size_t max_bytes, const vesta_sample* event) {
  ThreadRecord out;
  const user_registers& registers = thread.registers;
  vesta_sample head = event != nullptr ? *event : vesta_sample{};
  if (event == nullptr) head.time_ns = monotonic_ns();
  head.pid = thread.pid;
  head.tid = thread.tid;
  head.kernel_frames = static_cast<uint16_t>(thread.kernel_frames);
  std::memcpy(head.comm, thread.comm, sizeof(head.comm));
  std::vector<char> stack;
  if ((thread.flags & VESTA_THREAD_HAS_USER) == 0) {
    head.result =
        (thread.flags & VESTA_THREAD_32_BIT) != 0 ? VESTA_UNWIND_UNSUPPORTED : VESTA_UNWIND_NO_USER;
  } else {
    head.user_frames = 1;
    head.result = VESTA_UNWIND_BAD_MEMORY;  // unless there is a stack to go on with
    // Not into the page below, which may not be there: then nothing at all could be read.
    const uint64_t below = std::min<uint64_t>(registers.sp % kPage, VESTA_STACK_COPY_BELOW);
    stack = read_memory(thread.pid, registers.sp - below, max_bytes);
    if (stack.size() > below) {
      head.result = VESTA_UNWIND_NO_TABLE;
      head.stack_below = static_cast<uint16_t>(below);
      head.stack_bytes = static_cast<uint16_t>(std::min(stack.size(), kFirstPieceBytes));
      head.resume.ip = registers.ip;
      head.resume.sp = registers.sp;
      head.resume.bp = registers.bp;
      head.resume.has_registers = 1;
    }
  }
  append(out.bytes, &head, 1);
  append(out.bytes, thread.frames, thread.kernel_frames);
  if (head.user_frames != 0) {
    const uint64_t leaf = registers.ip | VESTA_FRAME_EXACT;
    append(out.bytes, &leaf, 1);
  }
  if (head.stack_bytes != 0) {
    const auto leaf = leaf_registers(registers);
    append(out.bytes, leaf.data(), leaf.size());
    append(out.bytes, stack.data(), head.stack_bytes);
    if (stack.size() > head.stack_bytes) {
      const auto rest = stack.begin() + head.stack_bytes;
      out.more_stack.push_back(
          {head.time_ns, registers.sp - head.stack_below + head.stack_bytes, {rest, stack.end()}});
    }
  }
  return out;
}

}  // namespace vesta::agent
