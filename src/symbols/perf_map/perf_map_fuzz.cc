#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>

#include "symbols/perf_map/jit_ranges.h"

namespace {

// The plain way to say it: the last line that covers an address names it.
std::string expected_at(const std::string& text, uint64_t address) {
  std::string name;
  size_t at = 0;
  for (size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    vesta::JitRanges one(1, 1 << 20);
    one.add_lines(text.substr(at, end - at + 1));
    one.settle();
    if (const auto found = one.lookup(address)) name = *found;
  }
  return name;
}

}  // namespace

// In whatever pieces the lines arrive, an address has the name of the last line that covers it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  vesta::JitRanges whole(1 << 20, 1 << 20);
  const size_t taken = whole.add_lines(text);
  whole.settle();
  vesta::JitRanges pieces(1 << 20, 1 << 20);
  for (size_t at = 0; at < taken;) {
    const size_t end = text.find('\n', at) + 1;
    pieces.add_lines(std::string_view(text).substr(at, end - at));
    pieces.settle();
    at = end;
  }
  for (const uint64_t address : {0x0ULL, 0x1ULL, 0xfULL, 0x1000ULL, 0x1008ULL, 0x7f0000000010ULL}) {
    const std::string expected = expected_at(text, address);
    if (whole.lookup(address).value_or("") != expected) std::abort();
    if (pieces.lookup(address).value_or("") != expected) std::abort();
  }
  vesta::JitRanges tight(2, 16);
  tight.add_lines(text);
  tight.settle();
  if (tight.size() > 2) std::abort();
  return 0;
}
