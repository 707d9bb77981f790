#include "agent/metadata/attributes.h"

#include <algorithm>

#include "base/utf8.h"

namespace vesta::agent {
namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

std::string fit(std::string_view value) {
  std::string out = replace_invalid_utf8(value.substr(0, kMaxAttributeValueBytes));
  std::ranges::replace_if(out, is_control, ' ');
  return out;
}

bool is_fit_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxAttributeNameBytes &&
         std::ranges::none_of(name, is_control) && is_valid_utf8(name);
}

struct ByName {
  bool operator()(const Attributes::value_type& pair, std::string_view name) const {
    return pair.first < name;
  }
};

}  // namespace

std::string_view find_attribute(const Attributes& attributes, std::string_view name) {
  const auto it = std::lower_bound(attributes.begin(), attributes.end(), name, ByName());
  return it != attributes.end() && it->first == name ? std::string_view(it->second)
                                                     : std::string_view();
}

void set_attribute(Attributes& attributes, std::string_view name, std::string_view value) {
  if (value.empty() || !is_fit_name(name)) return;
  const auto it = std::lower_bound(attributes.begin(), attributes.end(), name, ByName());
  if (it != attributes.end() && it->first == name) {
    it->second = fit(value);
  } else {
    attributes.emplace(it, name, fit(value));
  }
}

void normalize(Attributes& attributes) {
  std::ranges::stable_sort(attributes, {}, &Attributes::value_type::first);
  Attributes out;
  out.reserve(attributes.size());
  for (auto& pair : attributes) {
    if (!out.empty() && out.back().first == pair.first) out.pop_back();
    out.push_back(std::move(pair));
  }
  std::erase_if(out, [](const auto& pair) { return pair.second.empty(); });
  attributes = std::move(out);
}

size_t memory_bytes(const Attributes& attributes) {
  size_t bytes = attributes.capacity() * sizeof(Attributes::value_type);
  // Short texts are within the string itself.
  const auto of = [](const std::string& text) {
    return text.capacity() < 16 ? 0 : text.capacity() + 1;
  };
  for (const auto& [name, value] : attributes) bytes += of(name) + of(value);
  return bytes;
}

bool matches_glob(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;  // the last one met
  size_t star_text = 0;                  // where the text after what it stands for begins
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace vesta::agent
