// A library of one function, called FUNCTION, that burns some CPU.
__attribute__((noinline)) unsigned FUNCTION(unsigned x) {
  for (int i = 0; i < 300000; ++i) x = x * 1664525 + 1013904223;
  __asm__ volatile("" : "+r"(x));
  return x;
}
