// Text of flame graphs: names made safe to show, markup and binary quoting, the words above the
// graph. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "formats/flamegraph/flamegraph.h"

namespace vesta {

// `name` as visible text: control and bidirectional formatting characters, which could reorder or
// hide what is around them, are spelt out as "\u{202E}"; invalid UTF-8 becomes U+FFFD. What comes
// back has only characters that XML allows.
std::string visible_text(std::string_view name);

// `text` with & < > " ' as entities, for element content and attribute values.
std::string markup_escape(std::string_view text);

std::string base64_encode(std::string_view bytes);
// "sha256-…" as a Content-Security-Policy names a script.
std::string csp_hash(std::string_view sha256_hex);

// The name of a frame as boxes show it: with "[k]" after kernel functions, so that colour is not
// the only sign.
std::string frame_label(const FrameNames& names, uint32_t name);

std::string flamegraph_title(const ReportHeader& header, const FlamegraphOptions& options);
// Type, unit, total and duration; both totals and the change when there is a baseline.
std::string flamegraph_subtitle(const ReportHeader& header, const FlameTree& tree);
// "12 samples lost (ring full), …"; empty when nothing was lost.
std::string losses_text(const ReportHeader& header);

// "12.30s", "1,234": a value of the profile, in the words of the viewers.
std::string value_text(int64_t value, std::string_view unit);

// What shares are of: the total of the profile, or the tree's where the profile has none.
double share_base(int64_t profile_total, int64_t tree_total);
// "+12.34%", "-50%", "new", "gone", "±0%"
std::string change_percent(int64_t before, int64_t after);

}  // namespace vesta
