#include <cstdlib>

#include "store/selector.h"

// Whatever is understood is printed as a text that is understood in the same way.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  const auto first = vesta::parse_selector({reinterpret_cast<const char*>(data), size});
  if (!first) return 0;
  const std::string text = to_string(first->selector);
  const auto second = vesta::parse_selector(text);
  if (!second || second->selector.size() != first->selector.size()) std::abort();
  for (size_t i = 0; i < first->selector.size(); ++i) {
    const auto& a = first->selector[i];
    const auto& b = second->selector[i];
    if (a.name() != b.name() || a.value() != b.value() || a.op() != b.op()) std::abort();
    if (a.matches(a.value()) != b.matches(a.value())) std::abort();
  }
  matches(first->selector, {{"a", "b"}});
  return 0;
}
