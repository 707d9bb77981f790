// Loads and unloads two libraries by turns, for ever: the second comes to where the first was.
// Usage: plugins FIRST.so SECOND.so   (with functions `first` and `second`)
#include <dlfcn.h>

typedef unsigned (*Function)(unsigned);

// Whoever sees `first` below call_second has looked at mappings of another time.
__attribute__((noinline, noclone)) static unsigned call_first(Function function, unsigned x) {
  x = function(x);
  __asm__ volatile("# first" : "+r"(x));
  return x;
}

__attribute__((noinline, noclone)) static unsigned call_second(Function function, unsigned x) {
  x = function(x);
  __asm__ volatile("# second" : "+r"(x));
  return x;
}

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  unsigned x = 1;
  for (;;) {
    void* library = dlopen(argv[1], RTLD_NOW);
    if (!library) return 1;
    for (int i = 0; i < 20; ++i) x = call_first((Function)dlsym(library, "first"), x);
    dlclose(library);
    library = dlopen(argv[2], RTLD_NOW);
    if (!library) return 1;
    for (int i = 0; i < 20; ++i) x = call_second((Function)dlsym(library, "second"), x);
    dlclose(library);
  }
}
