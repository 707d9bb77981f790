#include <cstdint>
#include <cstdlib>

#include "demangle/demangle.h"
#include "demangle/short_name.h"

// Any bytes give a name within the bounds, and a short name is never empty.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view name(reinterpret_cast<const char*>(data), size);
  for (const auto style : {vesta::DemangleStyle::kShort, vesta::DemangleStyle::kFull}) {
    const std::string text = vesta::demangle(name, style);
    if (text.empty() && !name.empty()) std::abort();
    if (text.size() > vesta::kMaxDemangledBytes + size) std::abort();
  }
  vesta::shorten_cpp_name(name);
  vesta::shorten_rust_name(name);
  return 0;
}
