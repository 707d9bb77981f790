// Calls itself at random through every shape of frame that compilers make, and at the leaf of each
// walk writes what _Unwind_Backtrace says about its stack, with its registers and stack memory.
// README.md has the format and how to use it as an oracle.
//
// Usage: unwind_victim [--count N] [--seed S] [--depth D] [--recurse R] [--one-stack]
//                     [--memory] [--wait]
#include <alloca.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define NOINLINE __attribute__((noinline, noclone))

struct OracleRegisters {
  uint64_t by_dwarf_number[16];
  uint64_t return_address;
};

// Notes all registers as they are at its entry, and what it returns to. `sequence` is for whoever
// stops here: the number of the record that follows.
extern "C" void vesta_oracle_leaf(OracleRegisters* out, uint64_t sequence);
asm(R"(
  .text
  .p2align 4
  .globl vesta_oracle_leaf
  .type vesta_oracle_leaf, @function
vesta_oracle_leaf:
  .cfi_startproc
  .byte 0x0f, 0x1f, 0x44, 0x00, 0x00
  mov %rax, 0(%rdi)
  mov %rdx, 8(%rdi)
  mov %rcx, 16(%rdi)
  mov %rbx, 24(%rdi)
  mov %rsi, 32(%rdi)
  mov %rdi, 40(%rdi)
  mov %rbp, 48(%rdi)
  mov %rsp, 56(%rdi)
  mov %r8, 64(%rdi)
  mov %r9, 72(%rdi)
  mov %r10, 80(%rdi)
  mov %r11, 88(%rdi)
  mov %r12, 96(%rdi)
  mov %r13, 104(%rdi)
  mov %r14, 112(%rdi)
  mov %r15, 120(%rdi)
  mov (%rsp), %r11
  mov %r11, 128(%rdi)
  ret
  .cfi_endproc
  .size vesta_oracle_leaf, . - vesta_oracle_leaf
)");

namespace {

constexpr uint64_t kFileMagic = 0x3143524f54534556;    // "VESTORC1"
constexpr uint64_t kRecordMagic = 0x314b434154534556;  // "VESTACK1"
constexpr uint64_t kExact = uint64_t{1} << 63;
constexpr size_t kMaxFrames = 2048;
constexpr size_t kAlternateBytes = 8 << 20;

bool with_memory = false;
bool on_one_stack = false;
uint64_t sequence_number = 0;
uint64_t random_state = 1;
volatile int sink = 0;

// What the thread that walks has for stacks.
uint64_t stack_top = 0;
uint64_t alternate_low = 0;
uint64_t left_main_at = 0;  // while on the alternate stack: below this the main one is not in use

uint64_t random_number() {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

struct Trace {
  uint64_t frames[kMaxFrames];
  uint64_t count = 0;
};

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* argument) {
  auto& trace = *static_cast<Trace*>(argument);
  int is_before = 0;
  const uint64_t ip = _Unwind_GetIPInfo(context, &is_before);
  if (ip != 0 && trace.count < kMaxFrames) {
    trace.frames[trace.count++] = is_before != 0 ? ip | kExact : ip;
  }
  return _URC_NO_REASON;
}

void write_all(const void* data, size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::write(STDOUT_FILENO, at, bytes);
    if (done <= 0) std::_Exit(3);
    at += done;
    bytes -= static_cast<size_t>(done);
  }
}

void write_words(std::initializer_list<uint64_t> words) {
  write_all(words.begin(), words.size() * sizeof(uint64_t));
}

Trace trace;
OracleRegisters registers;
std::vector<char> image;

void write_region(uint64_t low, uint64_t high) {
  image.assign(reinterpret_cast<const char*>(low), reinterpret_cast<const char*>(high));
  // The slot that the leaf returned through has been written over since.
  if (low == registers.by_dwarf_number[7]) {
    std::memcpy(image.data(), &registers.return_address, sizeof(uint64_t));
  }
  write_words({low, high - low});
  write_all(image.data(), image.size());
}

NOINLINE void write_record() {
  const uint64_t sp = registers.by_dwarf_number[7];
  const bool on_alternate = sp >= alternate_low && sp < alternate_low + kAlternateBytes;
  const uint64_t regions = with_memory ? (on_alternate ? 2 : 1) : 0;
  // The first frame is take_stack itself, where the two disagree on the address.
  const uint64_t frames = trace.count - 1;
  write_words({kRecordMagic, sequence_number, reinterpret_cast<uint64_t>(&vesta_oracle_leaf),
               registers.return_address});
  write_all(registers.by_dwarf_number, sizeof(registers.by_dwarf_number));
  write_words({frames, regions});
  write_all(trace.frames + 1, frames * sizeof(uint64_t));
  if (!with_memory) return;
  if (on_alternate) {
    write_region(sp, alternate_low + kAlternateBytes);
    write_region(left_main_at, stack_top);
  } else {
    write_region(sp, stack_top);
  }
}

NOINLINE void take_stack() {
  trace.count = 0;
  _Unwind_Backtrace(note_frame, &trace);
  vesta_oracle_leaf(&registers, sequence_number);
  write_record();
  ++sequence_number;
  asm volatile("" ::: "memory");  // no tail call: this frame must stay as it was
}

NOINLINE void go_on(int depth);

// ---- One function for each shape of frame.

NOINLINE void plain(int depth) {
  go_on(depth);
  sink = depth;
}

NOINLINE void with_alloca(int depth) {
  const size_t bytes = 16 + random_number() % 600;
  auto* room = static_cast<char*>(alloca(bytes));
  room[0] = static_cast<char>(depth);
  asm volatile("" : : "r"(room) : "memory");
  go_on(depth);
  sink = room[0];
}

NOINLINE void realigned(int depth) {
  alignas(64) char room[128];
  room[0] = static_cast<char>(depth);
  asm volatile("" : : "r"(room) : "memory");
  go_on(depth);
  sink = room[0];
}

NOINLINE void realigned_with_alloca(int depth) {
  alignas(64) char room[64];
  auto* more = static_cast<char*>(alloca(32 + random_number() % 100));
  asm volatile("" : : "r"(room), "r"(more) : "memory");
  go_on(depth);
  sink = room[0] + more[0];
}

NOINLINE void big(int depth) {
  char room[20000];
  asm volatile("" : : "r"(room) : "memory");
  go_on(depth);
  sink = room[0];
}

NOINLINE uint64_t many_registers(int depth, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                                 uint64_t e, uint64_t f, uint64_t g, uint64_t h) {
  const uint64_t x = a * b + c;
  const uint64_t y = d * e + f;
  const uint64_t z = g * h + a;
  go_on(depth);
  return x ^ y ^ z ^ (a + b + c + d + e + f + g + h);
}

NOINLINE int with_varargs(int depth, ...) {
  va_list arguments;
  va_start(arguments, depth);
  go_on(depth);
  const int out = va_arg(arguments, int);
  va_end(arguments);
  return out;
}

// Call-backs from libraries go down once; their other calls return at once.
int pending_depth = -1;
int take_pending() {
  return std::exchange(pending_depth, -1);
}

int compare_going_on(const void* a, const void* b) {
  if (const int depth = take_pending(); depth >= 0) go_on(depth);
  const int x = *static_cast<const int*>(a);
  const int y = *static_cast<const int*>(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

NOINLINE void by_qsort(int depth) {
  int numbers[] = {5, 2, 9, 1, 7, 3, 8, 4, 6, 0};
  pending_depth = depth;
  std::qsort(numbers, std::size(numbers), sizeof(int), compare_going_on);
  sink = numbers[0];
}

NOINLINE void by_bsearch(int depth) {
  static const int numbers[] = {1, 2, 3, 4, 5, 6, 7};
  const int wanted = 6;
  pending_depth = depth;
  sink =
      std::bsearch(&wanted, numbers, std::size(numbers), sizeof(int), compare_going_on) != nullptr;
}

void walk_tree(const void*, VISIT, int) {
  if (const int depth = take_pending(); depth >= 0) go_on(depth);
}

NOINLINE void by_twalk(int depth) {
  static int numbers[] = {4, 2, 6, 1, 3, 5, 7};
  void* root = nullptr;
  pending_depth = -1;
  for (int& number : numbers) tsearch(&number, &root, compare_going_on);
  pending_depth = depth;
  twalk(root, walk_tree);
  pending_depth = -1;
  tdestroy(root, [](void*) {});
}

NOINLINE void by_std_sort(int depth) {
  std::vector<int> numbers(40);
  for (int& number : numbers) number = static_cast<int>(random_number() % 100);
  bool has_gone = false;
  std::sort(numbers.begin(), numbers.end(), [&](int a, int b) {
    if (!has_gone) {
      has_gone = true;
      go_on(depth);
    }
    return a < b;
  });
  sink = numbers[0];
}

NOINLINE void by_std_function(int depth) {
  const std::function<void(int)> call = [](int next) {
    go_on(next);
    sink = next;
  };
  call(depth);
  sink = depth;
}

struct Shape {
  virtual ~Shape() = default;
  virtual int enter(int depth) = 0;
};
struct Round final : Shape {
  int enter(int depth) override {
    go_on(depth);
    return 1;
  }
};
struct Square final : Shape {
  char room[256] = {};
  int enter(int depth) override {
    go_on(depth);
    return room[depth & 255];
  }
};

NOINLINE void by_virtual(int depth) {
  Round round;
  Square square;
  Shape* shape = random_number() % 2 == 0 ? static_cast<Shape*>(&round) : &square;
  asm volatile("" : "+r"(shape));
  sink = shape->enter(depth);
}

NOINLINE void throw_number(int number) {
  throw number;
}

NOINLINE void in_catch(int depth) {
  try {
    throw_number(depth);
  } catch (int caught) {
    go_on(caught);
    sink = caught;
  }
}

struct GoesOnWhenDestroyed {
  int depth;
  ~GoesOnWhenDestroyed() { go_on(depth); }
};

NOINLINE void in_destructor_while_unwinding(int depth) {
  try {
    const GoesOnWhenDestroyed cleanup{depth};
    throw_number(depth);
  } catch (int caught) {
    sink = caught;
  }
}

NOINLINE void tail_target(int depth) {
  char room[64];
  asm volatile("" : : "r"(room) : "memory");
  go_on(depth);
  sink = room[0];
}

NOINLINE void tail_call(int depth) {
  tail_target(depth);
}

NOINLINE void recursive(int left, int depth) {
  if (left > 0) {
    recursive(left - 1, depth);
  } else {
    go_on(depth);
  }
  sink = left;
}

// ---- Signals.

int signal_depth = -1;

void handle_signal(int) {
  if (const int depth = std::exchange(signal_depth, -1); depth >= 0) go_on(depth);
}

void handle_trap(int, siginfo_t*, void* context) {
  if (const int depth = std::exchange(signal_depth, -1); depth >= 0) go_on(depth);
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] += 2;  // over the ud2
}

NOINLINE void by_raise(int depth) {
  signal_depth = depth;
  ::raise(SIGUSR1);
  sink = depth;
}

// The signal hits an instruction of ours, not one after a call.
NOINLINE void by_trap(int depth) {
  signal_depth = depth;
  asm volatile("ud2" ::: "memory");
  sink = depth;
}

NOINLINE void by_raise_on_alternate_stack(int depth) {
  if (left_main_at != 0 || on_one_stack) return plain(depth);  // there already, or never
  // Below here only raise() and the red zone are in use.
  left_main_at = (reinterpret_cast<uint64_t>(__builtin_frame_address(0)) - 8192) & ~uint64_t{15};
  signal_depth = depth;
  ::raise(SIGUSR2);
  left_main_at = 0;
  sink = depth;
}

// ----

NOINLINE void go_on(int depth) {
  if (depth <= 0) {
    take_stack();
    sink = 0;
    return;
  }
  const int next = depth - 1;
  switch (random_number() % 22) {
    case 0:
      with_alloca(next);
      break;
    case 1:
      realigned(next);
      break;
    case 2:
      realigned_with_alloca(next);
      break;
    case 3:
      big(next);
      break;
    case 4:
      by_qsort(next);
      break;
    case 5:
      by_bsearch(next);
      break;
    case 6:
      by_std_sort(next);
      break;
    case 7:
      by_std_function(next);
      break;
    case 8:
      by_virtual(next);
      break;
    case 9:
      in_catch(next);
      break;
    case 10:
      in_destructor_while_unwinding(next);
      break;
    case 11:
      tail_call(next);
      break;
    case 12:
      recursive(static_cast<int>(random_number() % 8), next);
      break;
    case 13:
      by_raise(next);
      break;
    case 14:
      by_trap(next);
      break;
    case 15:
      by_raise_on_alternate_stack(next);
      break;
    case 16:
      by_twalk(next);
      break;
    case 17:
      sink = static_cast<int>(many_registers(next, random_number(), 2, 3, 4, 5, 6, 7, 8));
      break;
    case 18:
      sink = with_varargs(next, 1, 2.5, "three");
      break;
    default:
      plain(next);
      break;
  }
  sink = depth;
}

int max_depth = 60;
int recursion = 0;

void walk_once() {
  if (recursion > 0) return recursive(recursion - 1, 0);
  go_on(static_cast<int>(random_number() % static_cast<uint64_t>(max_depth)));
}

void set_up_stacks() {
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t bytes = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  stack_top = reinterpret_cast<uint64_t>(low) + bytes;
  stack_t alternate{};
  alternate.ss_sp = reinterpret_cast<void*>(alternate_low);
  alternate.ss_size = kAlternateBytes;
  ::sigaltstack(&alternate, nullptr);
}

void* run_thread(void*) {
  set_up_stacks();
  walk_once();
  return nullptr;
}

void install(int number, int flags, void (*simple)(int), void (*full)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_flags = flags | SA_NODEFER;
  if (full != nullptr) {
    action.sa_flags |= SA_SIGINFO;
    action.sa_sigaction = full;
  } else {
    action.sa_handler = simple;
  }
  ::sigaction(number, &action, nullptr);
}

void write_maps() {
  std::string text;
  char block[4096];
  FILE* file = std::fopen("/proc/self/maps", "re");
  if (file == nullptr) std::_Exit(4);
  while (const size_t got = std::fread(block, 1, sizeof(block), file)) text.append(block, got);
  std::fclose(file);
  text.resize((text.size() + 7) / 8 * 8, '\n');
  write_words({kFileMagic, text.size()});
  write_all(text.data(), text.size());
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t count = 100;
  bool wait = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const bool has_value = i + 1 < argc;
    if (option == "--memory") {
      with_memory = true;
    } else if (option == "--one-stack") {
      on_one_stack = true;
    } else if (option == "--wait") {
      wait = true;
    } else if (option == "--count" && has_value) {
      count = std::strtoull(argv[++i], nullptr, 10);
    } else if (option == "--seed" && has_value) {
      random_state = std::strtoull(argv[++i], nullptr, 10) * 0x9e3779b97f4a7c15 + 1;
    } else if (option == "--depth" && has_value) {
      max_depth = std::max(1, std::atoi(argv[++i]));
    } else if (option == "--recurse" && has_value) {
      recursion = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "unwind_victim: what is '%s'?\n", argv[i]);
      return 2;
    }
  }
  void* alternate =
      ::mmap(nullptr, kAlternateBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (alternate == MAP_FAILED) return 4;
  alternate_low = reinterpret_cast<uint64_t>(alternate);
  install(SIGUSR1, 0, handle_signal, nullptr);
  install(SIGUSR2, SA_ONSTACK, handle_signal, nullptr);
  install(SIGILL, 0, nullptr, handle_trap);
  write_maps();
  if (wait) {
    char byte = 0;
    if (::read(STDIN_FILENO, &byte, 1) != 1) return 5;
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (i % 16 == 15) {
      pthread_t thread{};
      if (pthread_create(&thread, nullptr, run_thread, nullptr) != 0) return 6;
      pthread_join(thread, nullptr);
    } else {
      if (stack_top == 0 || i % 16 == 0) set_up_stacks();
      walk_once();
    }
  }
  return 0;
}
