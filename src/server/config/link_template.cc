#include "server/config/link_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/words.h"

namespace vesta::server {
namespace {

constexpr std::array<std::string_view, 1> kTraceHoles = {"trace_id"};
constexpr std::array<std::string_view, 2> kSpanHoles = {"span_id", "trace_id"};
constexpr std::array<std::string_view, 2> kEditorHoles = {"file", "line"};

// A list of what is known, because the others (javascript:, data:) run in the page.
constexpr std::array<std::string_view, 20> kEditorSchemes = {
    "clion",  "cursor",   "emacs",           "goland",  "idea",     "jetbrains", "mvim",    "nova",
    "nvim",   "phpstorm", "pycharm",         "rider",   "rubymine", "subl",      "sublime", "txmt",
    "vscode", "vscodium", "vscode-insiders", "windsurf"};
constexpr size_t kMaxBytes = 2048;

bool is_http(std::string_view link) {
  return link.starts_with("http://") || link.starts_with("https://");
}

bool is_of_editor(std::string_view link) {
  const size_t end = link.find("://");
  return end != std::string_view::npos &&
         std::ranges::find(kEditorSchemes, link.substr(0, end)) != kEditorSchemes.end();
}

// Between "//" and the path.
std::string_view authority_of(std::string_view link) {
  link.remove_prefix(link.find("://") + 3);
  return link.substr(0, link.find_first_of("/?#"));
}

}  // namespace

Status LinkTemplate::parse(std::string_view word, std::string& to) const {
  if (word.empty()) {
    to.clear();
    return {};
  }
  if (word.size() > kMaxBytes) return config::not_a(word, "a link of 2048 bytes or fewer");
  if (!is_http(word) && !(to_editor && is_of_editor(word))) {
    return config::not_a(word, to_editor ? "a link to an editor, such as "
                                           "vscode://file/{file}:{line}, nor one of http(s)://"
                                         : "a link that starts with http:// or https://");
  }
  const auto is_bad = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '"' || c == '<' ||
           c == '>' || c == '\\' || c == '`';
  };
  if (std::ranges::any_of(word, is_bad)) {
    return config::not_a(word, "a link without blanks and control characters");
  }
  if (is_http(word)) {
    const std::string_view host = authority_of(word);
    if (host.empty() || host.find_first_of("{}@") != std::string_view::npos) {
      return config::not_a(word, "a link with a host, without user and password");
    }
  }
  bool has_first = false;
  for (size_t at = word.find_first_of("{}"); at != std::string_view::npos;
       at = word.find_first_of("{}", at + 1)) {
    const size_t end = word.find('}', at);
    const std::string_view hole =
        word[at] == '{' && end != std::string_view::npos ? word.substr(at + 1, end - at - 1) : "";
    if (std::ranges::find(holes, hole) == holes.end()) {
      return config::not_a(word, "a link with known placeholders",
                           fmt::format("use {{{}}}", fmt::join(holes, "}, {")));
    }
    has_first = has_first || hole == holes.front();
    at = end;
  }
  if (!has_first) {
    return config::not_a(word, fmt::format("a link with the placeholder {{{}}}", holes.front()));
  }
  to = word;
  return {};
}

LinkTemplate trace_link() {
  return {kTraceHoles, false};
}
LinkTemplate span_link() {
  return {kSpanHoles, false};
}
LinkTemplate editor_link() {
  return {kEditorHoles, true};
}

}  // namespace vesta::server
