#include <cstdlib>
#include <string_view>

#include "base/time_words.h"
#include "query/time_range.h"

// Whatever the words are, a range that is understood is not empty.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t half = text.find('|');
  const auto range = vesta::parse_time_range(
      text.substr(0, half), half == std::string_view::npos ? "" : text.substr(half + 1),
      1'763'208'000'000'000'000);
  if (range && range->empty()) std::abort();
  const auto span = vesta::parse_span_word(text, "step");
  if (span && *span <= 0) std::abort();
  return 0;
}
