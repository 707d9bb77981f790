// The small grammars of HTTP that every request brings: query strings, lists with
// weights, credentials, request ids. All of it is the caller's to choose, so nothing is trusted.
// Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/api.h"

namespace vesta::server {

struct Target {
  std::string path;                   // decoded
  std::vector<std::string> segments;  // of the path, decoded one by one, so that %2F splits nothing
  Fields query;                       // decoded, in order
};
// "/a/b%20c?x=1&y" or "http://host/a?x". kInvalidInput with the place that is wrong. "a=1;b=2" is
// one parameter: only "&" separates.
Result<Target> parse_target(std::string_view target);

// "http://host:80/a?x" taken apart, not decoded; none for what does not begin with http:// or
// https://, in letters of any case.
struct AbsoluteTarget {
  std::string_view scheme;  // "http" or "https"
  std::string_view authority;
  std::string_view rest;  // from the path on; may be empty
};
std::optional<AbsoluteTarget> split_absolute_target(std::string_view target);

// The target as logs may have it: the value of a parameter that is named like a secret (token,
// password …), and whatever looks like a token of ours, is replaced by dots.
std::string loggable_target(std::string_view target);

// Takes the prefix ("/vesta", without a slash at its end) off the path, where it stands. False when
// nothing is left, not even a slash: relative links of a page would then lead astray.
bool drop_prefix(std::string_view prefix, Target& target);

// Segments of "/a/b/": "a", "b", "". Not decoded.
std::vector<std::string_view> split_path(std::string_view path);

// Whether "gzip;q=0.5, br" lets the answer be of this coding; a weight of 0 forbids it.
bool accepts_encoding(std::string_view accept_encoding, std::string_view coding);

// What stands after "Bearer ", or as the password of "Basic " (whose user name is ignored, as
// clients put anything there). None for anything else.
std::optional<std::string> secret_of(std::string_view authorization);

// Short, and of characters that cannot break a log line or a header.
bool is_request_id(std::string_view text);

// Without what would end a header line: every control character becomes a space.
std::string header_safe(std::string_view text);

std::string lower_case(std::string_view text);

}  // namespace vesta::server
