// The fuzz targets of a whole layer in one program, which stands in the build folder under the name
// of each of them. The name that it is called by says which one runs: vesta_fuzzer() compiles each
// target's LLVMFuzzerTestOneInput under that name.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using Target = int (*)(const uint8_t*, size_t);

Target chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** argv) {
  const char* slash = std::strrchr((*argv)[0], '/');
  const char* name = slash == nullptr ? (*argv)[0] : slash + 1;
  chosen = reinterpret_cast<Target>(dlsym(RTLD_DEFAULT, name));
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "%s is not the name of a fuzz target; scripts/fuzz --list prints them\n",
               name);
  std::_Exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return chosen(data, size);
}
