// A link with holes that a page fills in: "https://tempo.example/trace/{trace_id}". What fills them
// comes from profiles, which anybody may send, so a template says itself which program and which
// host it leads to. Value; pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace vesta::server {

struct LinkTemplate {
  static constexpr bool kIsText = true;

  std::span<const std::string_view> holes;  // that it may have; it must have the first
  bool to_editor = false;                   // may be of a scheme that an editor registers

  std::string name() const { return "link"; }
  // Empty is no link. kUsage unless it is http(s)://HOST…, or that of an editor where one is meant,
  // without unknown holes.
  Status parse(std::string_view word, std::string& to) const;
  std::string text(const std::string& value) const { return value; }
};

LinkTemplate trace_link();
LinkTemplate span_link();
LinkTemplate editor_link();

}  // namespace vesta::server
