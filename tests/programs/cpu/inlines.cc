// Burns CPU in a function that is inlined twice over, until it is killed. Tests look up the lines
// by their remarks.
#include <cstdint>

namespace victim {

template <typename Number>
struct Mixer {
  __attribute__((always_inline)) static inline Number innermost(Number x) {
    for (int i = 0; i < 1000000; ++i) x = x * 0x5851f42d4c957f2du + 3;  // line of innermost
    return x;
  }
};

__attribute__((always_inline)) static inline uint64_t middle(uint64_t x) {
  return Mixer<uint64_t>::innermost(x) | 1;  // line of middle
}

__attribute__((noinline, noclone)) uint64_t outer(uint64_t x) {
  x = middle(x);  // line of outer
  asm volatile("" : "+r"(x));
  return x;
}

}  // namespace victim

int main() {
  uint64_t x = 1;
  while (x != 0) x = victim::outer(x);  // line of main
  return 0;
}
