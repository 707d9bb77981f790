#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "base/utf8.h"
#include "formats/table/report.h"
#include "formats/table/report_parts.h"

namespace vesta {
namespace {

// The heaviest nodes, up to the limit; a child is never heavier than its parent, so the choice is
// closed upwards.
std::vector<bool> choose_nodes(const FrameProfile& p, const CallTree& tree,
                               const ReportOptions& options) {
  const double least = options.min_share * static_cast<double>(p.total);
  const auto weight = [&](uint32_t i) { return saturating_abs(tree.nodes[i].total); };
  std::vector<uint32_t> order;
  for (uint32_t i = 1; i < tree.nodes.size(); ++i) {
    if (static_cast<double>(weight(i)) >= least) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return weight(a) > weight(b); });
  std::vector<bool> chosen(tree.nodes.size());
  chosen[0] = true;
  size_t count = 0;
  for (const uint32_t i : order) {
    if (options.max_rows != 0 && count >= options.max_rows) break;
    if (!chosen[tree.nodes[i].parent]) continue;
    chosen[i] = true;
    ++count;
  }
  return chosen;
}

// Walks the tree in order without recursion: a stack may be thousands of frames deep.
class TreeText {
 public:
  TreeText(const FrameProfile& profile, const CallTree& tree, TreeDirection direction,
           const ReportOptions& options)
      : p_(profile),
        tree_(tree),
        shows_self_(direction == TreeDirection::kTopDown),
        options_(options),
        format_(profile.unit, options, std::max<int64_t>(1, profile.total / 1000), profile.total),
        is_last_(tree.nodes.size()),
        shown_(choose_nodes(profile, tree, options)) {}

  std::string text() {
    out_ =
        header_text(p_) + basis_text(p_, options_.style) + losses_text(p_.losses, options_.style);
    out_ += options_.style.bold(
                fmt::format("{:>10} {:>7} {:>10}  {}", "Total", "Total%", "Self", "Call tree")) +
            "\n";
    line(0, "total");
    std::vector<std::pair<uint32_t, std::string>> pending;  // node, indentation of its children
    push_children(0, "", pending);
    while (!pending.empty()) {
      auto [at, indent] = std::move(pending.back());
      pending.pop_back();
      if (at >= tree_.nodes.size()) {
        cut_line(at - static_cast<uint32_t>(tree_.nodes.size()), indent);
        continue;
      }
      const bool last = is_last_[at];
      line(at, indent + (last ? "└ " : "├ ") +
                   printable(display_name(p_, tree_.nodes[at].frame.frame())));
      push_children(at, indent + (last ? "  " : "│ "), pending);
    }
    return std::move(out_);
  }

 private:
  void push_children(uint32_t at, const std::string& indent,
                     std::vector<std::pair<uint32_t, std::string>>& pending) {
    std::vector<uint32_t> shown;
    bool any_cut = false;
    for (uint32_t c = tree_.nodes[at].first_child; c != CallTree::kNone;
         c = tree_.nodes[c].next_sibling) {
      if (shown_[c]) {
        shown.push_back(c);
      } else {
        any_cut = true;
      }
    }
    if (any_cut) pending.emplace_back(static_cast<uint32_t>(tree_.nodes.size()) + at, indent);
    for (size_t i = shown.size(); i-- > 0;) {
      is_last_[shown[i]] = i + 1 == shown.size() && !any_cut;
      pending.emplace_back(shown[i], indent);
    }
  }

  void line(uint32_t at, const std::string& label) {
    const CallTree::Node& node = tree_.nodes[at];
    const double share =
        p_.total == 0 ? 0 : static_cast<double>(node.total) / static_cast<double>(p_.total);
    std::string row =
        fmt::format("{:>10} {:>7} {:>10}  ", format_(node.total),
                    format_percent(static_cast<double>(node.total), static_cast<double>(p_.total)),
                    node.self == 0 || !shows_self_ ? "" : format_(node.self));
    const size_t room = options_.style.width > 60 ? options_.style.width - 42 : 0;
    std::string name = label;
    if (room != 0 && display_width(name) > room)
      name = std::string(clip_to_width(name, room - 1)) + "…";
    out_ += options_.style.heat(row, std::fabs(share)) + name;
    // A bar of ten cells makes a column of figures a picture.
    if (const auto cells =
            static_cast<size_t>(std::lround(std::clamp(std::fabs(share), 0.0, 1.0) * 10));
        cells > 0) {
      out_ += "  ";
      for (size_t i = 0; i < cells; ++i) out_ += "█";
    }
    out_ += '\n';
  }

  void cut_line(uint32_t parent, const std::string& indent) {
    size_t count = 0;
    int64_t weight = 0;
    for (uint32_t c = tree_.nodes[parent].first_child; c != CallTree::kNone;
         c = tree_.nodes[c].next_sibling) {
      if (shown_[c]) continue;
      ++count;
      weight = saturating_add(weight, tree_.nodes[c].total);
    }
    const double share =
        p_.total == 0 ? 0 : static_cast<double>(weight) * 100 / static_cast<double>(p_.total);
    out_ += options_.style.dim(fmt::format("{:>10} {:>7} {:>10}  {}└ … {} more, {:.1f} %",
                                           format_(weight), "", "", indent, count, share)) +
            "\n";
  }

  const FrameProfile& p_;
  const CallTree& tree_;
  bool shows_self_;
  const ReportOptions& options_;
  ValueFormat format_;
  std::vector<bool> is_last_;
  std::vector<bool> shown_;
  std::string out_;
};

std::string json(const FrameProfile& p, const CallTree& tree, const std::vector<bool>& chosen) {
  JsonWriter out(0);
  out.begin_object();
  write_json_header(out, p.type, p.unit, p.total, p.duration_ns, p.time_ns);
  write_json_basis(out, p);
  size_t cut_nodes = 0;
  int64_t cut_self = 0;
  // A flat list with parents: deep trees would overflow the nesting limits of JSON readers.
  out.key("nodes").begin_array();
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const CallTree::Node& node = tree.nodes[i];
    if (!chosen[i]) {
      ++cut_nodes;
      cut_self = saturating_add(cut_self, node.self);
      continue;
    }
    out.begin_object().field("id", uint64_t{i});
    out.field("parent", node.parent == CallTree::kNone ? int64_t{-1} : int64_t{node.parent});
    out.field("name", i == 0 ? std::string("total") : display_name(p, node.frame.frame()));
    out.field("total", node.total).field("self", node.self).end_object();
  }
  return finish_json(out, p, cut_nodes, "self", cut_self);
}

std::string csv(const FrameProfile& p, const CallTree& tree, const std::vector<bool>& chosen) {
  std::string out = "id,parent,depth,total,self,name\n";
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    if (!chosen[i]) continue;
    const CallTree::Node& node = tree.nodes[i];
    out += fmt::format("{},{},{},{},{},{}\n", i,
                       node.parent == CallTree::kNone ? -1 : static_cast<int64_t>(node.parent),
                       node.depth, node.total, node.self,
                       csv_field(i == 0 ? "total" : display_name(p, node.frame.frame())));
  }
  return out;
}

}  // namespace

std::string tree_report(const FrameProfile& profile, const CallTree& tree, TreeDirection direction,
                        const ReportOptions& options) {
  switch (options.format) {
    case ReportFormat::kText:
      return TreeText(profile, tree, direction, options).text();
    case ReportFormat::kJson:
      return json(profile, tree, choose_nodes(profile, tree, options));
    case ReportFormat::kCsv:
      return csv(profile, tree, choose_nodes(profile, tree, options));
  }
  return {};
}

}  // namespace vesta
