// Calls the functions of assembly.S through pointers, as codecs do, each from a caller of its own:
// asm_leaf has call_leaf as its caller and nothing else. The stack above is filled with return
// addresses of other functions before each call. Runs until it is killed.
#include <stddef.h>

unsigned asm_leaf(unsigned seed);
unsigned asm_pushes(unsigned seed);
unsigned asm_aligned(unsigned seed);
unsigned asm_unclear(unsigned seed, size_t bytes);
unsigned asm_calls(unsigned seed, unsigned other, unsigned (*function)(unsigned));

static volatile unsigned sum = 1;
static unsigned (*volatile leaf)(unsigned) = asm_leaf;
static unsigned (*volatile pushes)(unsigned) = asm_pushes;
static unsigned (*volatile aligned)(unsigned) = asm_aligned;
static unsigned (*volatile unclear)(unsigned, size_t) = asm_unclear;
static unsigned (*volatile calls)(unsigned, unsigned, unsigned (*)(unsigned)) = asm_calls;

// Leaves return addresses into itself and its callers on the stack.
__attribute__((noinline)) static unsigned leave_traces(unsigned depth) {
  return depth == 0 ? sum : leave_traces(depth - 1) * 3 + leave_traces(depth - 1);
}

__attribute__((noinline)) static void call_leaf(void) {
  sum = leaf(sum) + 1;
}
__attribute__((noinline)) static void call_pushes(void) {
  sum = pushes(sum) + 1;
}
__attribute__((noinline)) static void call_aligned(void) {
  sum = aligned(sum) + 1;
}
__attribute__((noinline)) static void call_unclear(void) {
  sum = unclear(sum, 0x100) + 1;
}
__attribute__((noinline)) static unsigned called_back(unsigned seed) {
  return leaf(seed) + 1;
}
__attribute__((noinline)) static void call_calls(void) {
  sum = calls(sum, sum, called_back) + 1;
}

__attribute__((noinline)) static void turn(void) {
  static void (*volatile const all[])(void) = {call_leaf, call_pushes, call_aligned, call_unclear,
                                               call_calls};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
    sum += leave_traces(3);
    all[i]();
  }
}

int main(void) {
  while (1) turn();
}
