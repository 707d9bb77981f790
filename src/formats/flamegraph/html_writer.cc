#include <fmt/format.h>

#include "base/json_writer.h"
#include "base/varint.h"
#include "formats/flamegraph/embedded.h"
#include "formats/flamegraph/flame_colors.h"
#include "formats/flamegraph/flame_frames.h"
#include "formats/flamegraph/flame_text.h"
#include "formats/flamegraph/flamegraph.h"

namespace vesta {
namespace {

// Nodes in pre-order; README.md has the layout.
std::string encode_nodes(const CallTree& tree, const FlameFrames& frames, bool has_baseline) {
  std::string out;
  uint32_t last_depth = 0;
  uint32_t at = 0;
  while (at != CallTree::kNone) {
    const CallTree::Node& node = tree.nodes[at];
    if (at != 0) put_varint(out, last_depth + 1 - node.depth);
    last_depth = node.depth;
    put_varint(out, uint64_t{frames.index_of(node)} << 1 | (node.frame.inlined() ? 1 : 0));
    put_signed(out, node.self);
    if (has_baseline) put_signed(out, node.baseline_self);
    if (node.first_child != CallTree::kNone) {
      at = node.first_child;
      continue;
    }
    while (at != CallTree::kNone && tree.nodes[at].next_sibling == CallTree::kNone) {
      at = tree.nodes[at].parent;
    }
    if (at != CallTree::kNone) at = tree.nodes[at].next_sibling;
  }
  return out;
}

void write_colors(JsonWriter& json, std::string_view name, std::span<const FlameColor> colors) {
  json.key(name).begin_object();
  json.key("light").begin_array();
  for (const FlameColor& color : colors) json.string(color.light.hex());
  json.end_array().key("dark").begin_array();
  for (const FlameColor& color : colors) json.string(color.dark.hex());
  json.end_array().end_object();
}

void write_frames(JsonWriter& json, const FrameProfile& profile, const FlameFrames& frames) {
  const auto column = [&](std::string_view name, auto&& write) {
    json.key(name).begin_array();
    for (const FlameFrame& frame : frames.frames) write(frame, profile.frame(frame.id));
    json.end_array();
  };
  const auto string_or_zero = [&](std::string_view text) {
    if (text.empty()) {
      json.number(int64_t{0});
    } else {
      json.string(text);
    }
  };
  json.key("frames").begin_object();
  column("name", [&](const FlameFrame& f, const Frame&) { json.string(f.name); });
  column("short", [&](const FlameFrame& f, const Frame&) {
    string_or_zero(f.short_name == f.name ? "" : f.short_name);
  });
  column("color", [&](const FlameFrame& f, const Frame&) { json.number(uint64_t{f.color}); });
  column("kind",
         [&](const FlameFrame&, const Frame& f) { string_or_zero(frame_kind_name(f.kind)); });
  column("binary", [&](const FlameFrame&, const Frame& f) {
    string_or_zero(visible_text(profile.string(f.binary)));
  });
  column("file", [&](const FlameFrame&, const Frame& f) {
    string_or_zero(visible_text(profile.string(f.file)));
  });
  json.end_object();
}

std::string make_data(const FrameProfile& profile, const CallTree& tree,
                      const FlamegraphOptions& options) {
  const FlameFrames frames = collect_frames(profile, tree);
  JsonWriter json;
  json.begin_object();
  json.field("title", flamegraph_title(profile, options));
  json.field("subtitle", flamegraph_subtitle(profile, tree));
  json.field("losses", losses_text(profile));
  json.field("inverted", options.inverted);
  json.field("icicle", options.direction == FlameDirection::kIcicle);
  write_profile_fields(json, profile, tree);
  write_colors(json, "colors", frame_colors());
  write_colors(json, "diffColors", diff_colors());
  json.key("diffBounds").begin_array();
  for (const int bound : kDiffBounds) json.number(int64_t{bound});
  json.end_array();
  write_frames(json, profile, frames);
  json.field("nodeCount", uint64_t{tree.nodes.size()});
  json.field("nodes", base64_encode(encode_nodes(tree, frames, profile.has_baseline)));
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

std::string write_flamegraph_html(const FrameProfile& profile, const CallTree& tree,
                                  const FlamegraphOptions& options) {
  const std::string data =
      options.inverted
          ? make_data(profile,
                      build_call_tree(profile, TreeDirection::kTopDown, ChildOrder::kByTotal),
                      options)
          : make_data(profile, tree, options);
  return fill_page(kFlameViewerPage.text,
                   {{"title", markup_escape(flamegraph_title(profile, options))},
                    {"subtitle", markup_escape(flamegraph_subtitle(profile, tree))},
                    {"script_hash", csp_hash(kFlameViewerScript.sha256_hex)},
                    {"style_hash", csp_hash(kFlameViewerStyle.sha256_hex)},
                    {"style", kFlameViewerStyle.text},
                    {"data", data},
                    {"script", kFlameViewerScript.text}});
}

}  // namespace vesta
