// For tests: is a text well-formed XML, as far as our SVG uses it? Pure function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vesta {

// Empty when it is, else what is wrong and where.
inline std::string xml_problem(std::string_view text) {
  std::vector<std::string> open;
  size_t at = 0;
  const auto problem = [&](const std::string& what) {
    return what + " at byte " + std::to_string(at) + ": " + std::string(text.substr(at, 60));
  };
  const auto check_text = [](std::string_view part) {
    for (size_t i = 0; i < part.size(); ++i) {
      const auto c = static_cast<unsigned char>(part[i]);
      if (c < 0x20 && c != '\n' && c != '\t') return false;
      if (c == '<') return false;
      if (c != '&') continue;
      const std::string_view entity = part.substr(i, part.substr(i).find(';') + 1);
      bool known = false;
      for (const char* name : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) known |= entity == name;
      if (!known) return false;
    }
    return part.find("]]>") == std::string_view::npos;
  };
  if (text.starts_with("<?xml")) at = text.find("?>") + 2;
  while (at < text.size()) {
    const size_t tag = text.find('<', at);
    if (!check_text(text.substr(at, tag - at))) return problem("bad text");
    if (tag == std::string_view::npos) break;
    at = tag;
    if (text.substr(at).starts_with("<![CDATA[")) {
      const size_t end = text.find("]]>", at);
      if (end == std::string_view::npos || open.empty()) return problem("bad CDATA");
      at = end + 3;
      continue;
    }
    // Attribute values of the writers hold no ">": they are escaped.
    const size_t end = text.find('>', at);
    if (end == std::string_view::npos) return problem("tag without end");
    std::string_view inside = text.substr(at + 1, end - at - 1);
    if (inside.starts_with('/')) {
      if (open.empty() || open.back() != inside.substr(1)) return problem("wrong closing tag");
      open.pop_back();
    } else {
      const bool is_empty = inside.ends_with('/');
      if (is_empty) inside.remove_suffix(1);
      const size_t space = inside.find(' ');
      std::string_view rest = space == std::string_view::npos ? "" : inside.substr(space);
      while (!rest.empty()) {
        const size_t quote = rest.find("=\"");
        const size_t close = quote == std::string_view::npos ? quote : rest.find('"', quote + 2);
        if (rest.front() != ' ' || close == std::string_view::npos) return problem("bad attribute");
        if (!check_text(rest.substr(quote + 2, close - quote - 2))) return problem("bad value");
        rest.remove_prefix(close + 1);
      }
      if (!is_empty) open.emplace_back(inside.substr(0, space));
    }
    at = end + 1;
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

}  // namespace vesta
