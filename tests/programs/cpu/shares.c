// Burns CPU in heavy, medium and light as 60:30:10, all the time, by construction: every round is
// ten equal slots in random order, six of them in heavy. The work is the same function, so an
// iteration costs the same; the order is random so that no sampling period can be in step with it.
//
// Usage: shares [ROUNDS]   (without: until it is killed)
#include <stdint.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))
enum { kSlots = 10, kIterations = 20000 };

NOINLINE static uint64_t spin(uint64_t x) {
  for (int i = 0; i < kIterations; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}

// The asm keeps the calls from becoming jumps, and its comment the compiler from folding three
// equal functions into one.
NOINLINE static uint64_t heavy(uint64_t x) {
  x = spin(x);
  __asm__ volatile("# heavy" : "+r"(x));
  return x;
}

NOINLINE static uint64_t medium(uint64_t x) {
  x = spin(x);
  __asm__ volatile("# medium" : "+r"(x));
  return x;
}

NOINLINE static uint64_t light(uint64_t x) {
  x = spin(x);
  __asm__ volatile("# light" : "+r"(x));
  return x;
}

static void shuffle(unsigned char* slots, uint64_t random) {
  for (unsigned i = kSlots - 1; i > 0; --i) {
    unsigned j = (unsigned)(random >> (5 * i)) % (i + 1);
    unsigned char kept = slots[i];
    slots[i] = slots[j];
    slots[j] = kept;
  }
}

int main(int argc, char** argv) {
  unsigned char slots[kSlots] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 2};
  uint64_t x = 0x9e3779b97f4a7c15;
  uint64_t rounds = argc > 1 ? strtoull(argv[1], 0, 10) : UINT64_MAX;
  for (uint64_t round = 0; round < rounds; ++round) {
    shuffle(slots, x);
    for (int i = 0; i < kSlots; ++i)
      x = slots[i] == 0 ? heavy(x) : slots[i] == 1 ? medium(x) : light(x);
  }
  return x == 0;
}
