#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/json_writer.h"
#include "base/units.h"
#include "formats/flamegraph/embedded.h"
#include "formats/flamegraph/flame_colors.h"
#include "formats/flamegraph/flame_frames.h"
#include "formats/flamegraph/flame_label.h"
#include "formats/flamegraph/flame_layout.h"
#include "formats/flamegraph/flame_text.h"
#include "formats/flamegraph/flamegraph.h"

namespace vesta {
namespace {

// viewer/svg.js reads these from the data, so that script and picture agree.
constexpr int kRowHeight = 18;
constexpr int kMargin = 12;
constexpr double kColumnWidth = 6.63;  // of one character in the 11 px monospace font
constexpr int kTextPadding = 4;
constexpr int kLegendStepWidth = 52;

struct DrawnBox {
  FlameBox box;
  uint32_t parent = 0;  // index into the drawn boxes
};

struct Drawing {
  std::vector<DrawnBox> boxes;
  uint32_t depth = 0;
  size_t cut_boxes = 0;
  double cut_extent = 0;
};

Drawing choose_boxes(const std::vector<FlameBox>& boxes, double pixels_per_unit, double min_width) {
  Drawing drawing;
  std::vector<uint32_t> drawn_as(boxes.size(), UINT32_MAX);
  for (size_t i = 0; i < boxes.size(); ++i) {
    const FlameBox& box = boxes[i];
    if (i != 0 && box.extent * pixels_per_unit < min_width) {
      ++drawing.cut_boxes;
      // What is under a box that is not drawn is part of it.
      if (drawn_as[box.parent] != UINT32_MAX) drawing.cut_extent += box.extent;
      continue;
    }
    drawn_as[i] = static_cast<uint32_t>(drawing.boxes.size());
    drawing.boxes.push_back({box, drawn_as[box.parent]});
    drawing.depth = std::max(drawing.depth, box.depth);
  }
  return drawing;
}

class SvgWriter {
 public:
  SvgWriter(const ReportHeader& header, const FlameTree& tree, const FlamegraphOptions& options)
      : header_(header),
        tree_(tree),
        options_(options),
        frames_(collect_frames(tree)),
        width_(std::max(options.width_px, 200)) {
    const std::vector<FlameBox> boxes = lay_out_boxes(tree);
    extent_ = boxes.empty() ? 0 : boxes[0].extent;
    scale_ = extent_ > 0 ? (width_ - 2 * kMargin) / extent_ : 0;
    drawing_ = choose_boxes(boxes, scale_, options.min_width_px);
  }

  std::string write() {
    const std::vector<std::string> notes = make_notes();
    const int legend_top = 50 + 16 * static_cast<int>(notes.size());
    top_ = legend_top + (tree_.has_baseline() ? 34 : 0) + 24;
    height_ = top_ + static_cast<int>(drawing_.depth + 1) * kRowHeight + kMargin;

    const std::string title = flamegraph_title(header_, options_);
    emit(R"(<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" class="vesta" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" aria-labelledby="title subtitle">
<title>{2}</title>
)",
         width_, height_, markup_escape(title));
    write_style();
    emit("<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n");
    emit("<text id=\"title\" class=\"title\" x=\"{}\" y=\"26\">{}</text>\n", kMargin,
         markup_escape(title));
    emit("<text id=\"subtitle\" class=\"note\" x=\"{}\" y=\"44\">{}</text>\n", kMargin,
         markup_escape(flamegraph_subtitle(header_, tree_)));
    for (size_t i = 0; i < notes.size(); ++i) {
      emit("<text class=\"note\" x=\"{}\" y=\"{}\">{}</text>\n", kMargin, 60 + 16 * i,
           markup_escape(notes[i]));
    }
    if (tree_.has_baseline()) write_legend(legend_top + 4);
    emit("<text id=\"details\" class=\"details\" x=\"{}\" y=\"{}\"></text>\n", kMargin, top_ - 8);
    emit("<text id=\"matched\" class=\"details end\" x=\"{}\" y=\"{}\"></text>\n", width_ - kMargin,
         top_ - 8);
    emit("<g id=\"frames\">\n");
    for (const DrawnBox& drawn : drawing_.boxes) write_box(drawn.box);
    emit("</g>\n");
    // json_quote leaves no "<" or "]]>" in the data; the tests look after the script.
    emit("<script><![CDATA[\nconst VESTA_DATA = {};\n", make_data());
    out_ += kFlameSvgScript.text;
    emit("]]></script>\n</svg>\n");
    return std::move(out_);
  }

 private:
  template <class... Args>
  void emit(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  std::vector<std::string> make_notes() const {
    std::vector<std::string> notes;
    if (drawing_.cut_boxes > 0) {
      notes.push_back(fmt::format("{} frames under {} px not drawn ({} of the width)",
                                  format_count(drawing_.cut_boxes), options_.min_width_px,
                                  format_percent(drawing_.cut_extent, extent_)));
    }
    if (const std::string losses = losses_text(header_); !losses.empty()) {
      notes.push_back("Not complete: " + losses);
    }
    if (options_.inverted) {
      notes.emplace_back("Inverted: functions that ran first, their callers beyond them");
    }
    return notes;
  }

  void write_style() {
    out_ += "<style>\n";
    out_ += kFlameSvgStyle.text;
    const std::span<const FlameColor> colors =
        tree_.has_baseline() ? diff_colors() : frame_colors();
    std::string dark;
    for (size_t i = 0; i < colors.size(); ++i) {
      emit(".c{}{{fill:{}}}", i, colors[i].light.hex());
      dark += fmt::format(".c{}{{fill:{}}}", i, colors[i].dark.hex());
    }
    emit("\n@media (prefers-color-scheme:dark){{{}}}\n</style>\n", dark);
    if (tree_.has_baseline()) {
      emit(
          "<defs><pattern id=\"gone\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
          "patternTransform=\"rotate(45)\"><path class=\"hatch\" d=\"M0 "
          "0V6\"/></pattern></defs>\n");
    }
  }

  void write_legend(int y) {
    static constexpr std::string_view kLabels[] = {"≤ −50%", "−25%", "−10%", "−5%",  "−1%",   "±0",
                                                   "+1%",    "+5%",  "+10%", "+25%", "≥ +50%"};
    emit("<g id=\"legend\" class=\"legend\">\n");
    int x = kMargin;
    for (size_t i = 0; i < std::size(kLabels); ++i, x += kLegendStepWidth) {
      emit(
          "<rect class=\"c{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"14\"/><text class=\"label\" "
          "x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
          i, x, y, kLegendStepWidth - 2, x + kLegendStepWidth / 2 - 1, y + 11, kLabels[i]);
    }
    emit(
        "<text class=\"note\" x=\"{}\" y=\"{}\">Change of a frame: blue less, red more, "
        "hatched [gone], + [new]. Width: the larger side.</text>\n",
        x + 8, y + 11);
    emit("</g>\n");
  }

  const FlameFrame& frame_of(const FlameBox& box) const {
    return frames_.frames[frames_.index[tree_.name[box.node]]];
  }

  std::string describe(const FlameBox& box) const {
    const std::string& name = frame_of(box).name;
    const int64_t total = tree_.weights.total[box.node];
    const int64_t before = tree_.baseline_total(box.node);
    const auto share = [](int64_t value, double base) {
      return format_percent(static_cast<double>(value), base);
    };
    const double base = share_base(header_.total, tree_.weights.total[0]);
    if (!tree_.has_baseline()) {
      return fmt::format("{} ({}, {})", name, value_text(total, header_.unit), share(total, base));
    }
    const double before_base = share_base(header_.baseline_total, tree_.baseline.total[0]);
    return fmt::format("{} (before {}, {}; after {}, {}; change {})", name,
                       value_text(before, header_.unit), share(before, before_base),
                       value_text(total, header_.unit), share(total, base),
                       change_percent(before, total));
  }

  void write_box(const FlameBox& box) {
    const FlameFrame& frame = frame_of(box);
    const double x = kMargin + box.start * scale_;
    const double width = extent_ > 0 ? box.extent * scale_ : width_ - 2.0 * kMargin;
    const uint32_t row =
        options_.direction == FlameDirection::kIcicle ? box.depth : drawing_.depth - box.depth;
    const int y = top_ + static_cast<int>(row) * kRowHeight;
    const int64_t before = tree_.baseline_total(box.node);
    const int64_t after = tree_.weights.total[box.node];
    const bool is_gone = tree_.has_baseline() && after == 0 && before != 0;
    const bool is_new = tree_.has_baseline() && after != 0 && before == 0;
    const size_t color = tree_.has_baseline()
                             ? static_cast<size_t>(diff_step(before, after) + kDiffSteps)
                             : frame.color;
    // A hair between neighbours, but never at the cost of a frame that is narrow itself.
    const double shown = width > 3 ? width - 0.6 : width;
    emit(
        "<g><title>{}</title><rect class=\"c{}\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" "
        "height=\"{}\"/>",
        markup_escape(describe(box)), color, x, y, shown, kRowHeight - 1);
    if (is_gone) {
      emit("<rect class=\"gone\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"/>", x, y,
           shown, kRowHeight - 1);
    }
    const FrameChange change = is_gone  ? FrameChange::kGone
                               : is_new ? FrameChange::kNew
                                        : FrameChange::kNone;
    const auto columns = static_cast<size_t>(std::max(0.0, (width - kTextPadding) / kColumnWidth));
    const std::string label = fit_changed_label(frame.name, frame.short_name, change, columns);
    if (!label.empty()) {
      emit("<text class=\"label\" x=\"{:.2f}\" y=\"{}\">{}</text>", x + kTextPadding / 2.0,
           y + 12.5, markup_escape(label));
    }
    emit("</g>\n");
  }

  std::string make_data() const {
    JsonWriter json;
    json.begin_object();
    json.field("width", int64_t{width_}).field("top", int64_t{top_});
    json.field("rowHeight", int64_t{kRowHeight}).field("margin", int64_t{kMargin});
    json.field("columnWidth", kColumnWidth).field("textPadding", int64_t{kTextPadding});
    json.field("maxDepth", uint64_t{drawing_.depth});
    json.field("icicle", options_.direction == FlameDirection::kIcicle);
    json.field("cutShare", extent_ > 0 ? drawing_.cut_extent / extent_ : 0.0);
    write_profile_fields(json, header_, tree_);
    json.key("names").begin_array();
    for (const FlameFrame& frame : frames_.frames) json.string(frame.name);
    json.end_array();
    json.key("shortNames").begin_array();
    for (const FlameFrame& frame : frames_.frames) {
      if (frame.short_name == frame.name) {
        json.number(int64_t{0});
      } else {
        json.string(frame.short_name);
      }
    }
    json.end_array();
    const auto column = [&](std::string_view name, auto&& value) {
      json.key(name).begin_array();
      for (const DrawnBox& drawn : drawing_.boxes) json.number(value(drawn));
      json.end_array();
    };
    column("frame",
           [&](const DrawnBox& b) { return uint64_t{frames_.index[tree_.name[b.box.node]]}; });
    column("parent", [&](const DrawnBox& b) { return uint64_t{b.parent}; });
    column("depth", [&](const DrawnBox& b) { return uint64_t{b.box.depth}; });
    column("start", [&](const DrawnBox& b) { return b.box.start; });
    column("extent", [&](const DrawnBox& b) { return b.box.extent; });
    column("value", [&](const DrawnBox& b) { return tree_.weights.total[b.box.node]; });
    if (tree_.has_baseline()) {
      column("beforeValue", [&](const DrawnBox& b) { return tree_.baseline.total[b.box.node]; });
    }
    json.end_object();
    return json.take();
  }

  const ReportHeader& header_;
  const FlameTree& tree_;
  const FlamegraphOptions& options_;
  const FlameFrames frames_;
  const int width_;
  double extent_ = 0;
  double scale_ = 0;
  Drawing drawing_;
  int top_ = 0;
  int height_ = 0;
  std::string out_;
};

}  // namespace

std::string write_flamegraph_svg(const ReportHeader& header, const FlameTree& tree,
                                 const FlamegraphOptions& options) {
  if (!options.inverted) return SvgWriter(header, tree, options).write();
  const FlameTree from_the_leaves = inverted(tree);
  return SvgWriter(header, from_the_leaves, options).write();
}

}  // namespace vesta
