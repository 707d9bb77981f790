#include <algorithm>
#include <string>

#include "base/json_writer.h"
#include "formats/flamegraph/embedded.h"
#include "formats/flamegraph/flame_columns.h"
#include "formats/flamegraph/flame_text.h"
#include "formats/flamegraph/flamegraph.h"
#include "profile/prune.h"

namespace vesta {
namespace {

std::string make_header(const ReportHeader& header, const FlameTree& tree,
                        const FlamegraphOptions& options, bool has_inlined) {
  JsonWriter json;
  json.begin_object();
  json.field("type", header.type);
  json.field("unit", header.unit);
  json.field("total", share_base(header.total, tree.weights.total[0]));
  json.field("root", "total");
  json.field("group", "function");
  json.field("inlined", has_inlined);
  json.field("duration_ns", header.duration_ns);
  json.field("baseline", tree.has_baseline());
  if (tree.has_baseline()) {
    json.field("total_before", share_base(header.baseline_total, tree.baseline.total[0]));
    json.field("total_after", share_base(header.total, tree.weights.total[0]));
  }
  const std::string losses = losses_text(header);
  json.key("warnings").begin_array();
  if (!losses.empty()) {
    json.begin_object();
    json.field("code", "losses");
    json.field("text", "not complete: " + losses);
    json.end_object();
  }
  json.end_array();
  json.field("inverted", options.inverted);
  json.field("flip", options.direction == FlameDirection::kFlame);
  json.end_object();
  return json.take();
}

// The page with each {{name}} replaced. Values are not searched again, so that a name that looks
// like a mark stays a name.
std::string fill_page(std::string_view page,
                      std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string out;
  while (true) {
    const size_t open = page.find("{{");
    out += page.substr(0, open);
    if (open == std::string_view::npos) return out;
    page.remove_prefix(open + 2);
    const size_t close = page.find("}}");
    for (const auto& [name, value] : values) {
      if (name == page.substr(0, close)) out += value;
    }
    page.remove_prefix(close + 2);
  }
}

}  // namespace

std::string write_flamegraph_html(const ReportHeader& header, const FlameTree& tree,
                                  const FlamegraphOptions& options) {
  const bool has_inlined = std::ranges::find(tree.inlined, 1) != tree.inlined.end();
  const std::string columns =
      write_flame_columns(make_header(header, tree, options, has_inlined), tree, prune(tree, 0),
                          {.says_inlined = has_inlined, .whole_names = true});
  return fill_page(kFlamePage.text, {{"title", markup_escape(flamegraph_title(header, options))},
                                     {"subtitle", markup_escape(flamegraph_subtitle(header, tree))},
                                     {"script_hash", csp_hash(kFlamePageScript.sha256_hex)},
                                     {"style_hash", csp_hash(kFlamePageStyle.sha256_hex)},
                                     {"style", kFlamePageStyle.text},
                                     {"profile", base64_encode(columns)},
                                     {"script", kFlamePageScript.text}});
}

}  // namespace vesta
