#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/units.h"
#include "base/utf8.h"
#include "reports/print/report.h"
#include "reports/print/report_parts.h"
#include "reports/selection_tree.h"

namespace vesta {
namespace {

// Walks the tree in order without recursion: a stack may be thousands of frames deep.
class TreeText {
 public:
  TreeText(const ReportHeader& header, const FlameTree& tree, const std::vector<uint8_t>& shown,
           TreeDirection direction, const ReportOptions& options)
      : p_(header),
        tree_(tree),
        children_(tree.parent),
        shown_(shown),
        shows_self_(direction == TreeDirection::kTopDown),
        options_(options),
        format_(header.unit, options, std::max<int64_t>(1, header.total / 1000), header.total),
        is_last_(tree.size()) {}

  std::string text() {
    out_ =
        header_text(p_) + basis_text(p_, options_.style) + losses_text(p_.losses, options_.style);
    out_ += options_.style.bold(
                fmt::format("{:>10} {:>7} {:>10}  {}", "Total", "Total%", "Self", "Call tree")) +
            "\n";
    line(0, printable(tree_.text(0)));
    std::vector<std::pair<uint32_t, std::string>> pending;  // node, indentation of its children
    push_children(0, "", pending);
    while (!pending.empty()) {
      auto [at, indent] = std::move(pending.back());
      pending.pop_back();
      if (at >= tree_.size()) {
        cut_line(at - static_cast<uint32_t>(tree_.size()), indent);
        continue;
      }
      const bool last = is_last_[at];
      line(at, indent + (last ? "└ " : "├ ") + printable(tree_.text(at)));
      push_children(at, indent + (last ? "  " : "│ "), pending);
    }
    return std::move(out_);
  }

 private:
  void push_children(uint32_t at, const std::string& indent,
                     std::vector<std::pair<uint32_t, std::string>>& pending) {
    std::vector<uint32_t> shown;
    std::ranges::copy_if(children_.of(at), std::back_inserter(shown),
                         [&](uint32_t child) { return shown_[child] != 0; });
    const auto weight = [&](uint32_t node) {
      return tree_.has_baseline() ? std::max(tree_.weights.total[node], tree_.baseline.total[node])
                                  : tree_.weights.total[node];
    };
    std::ranges::stable_sort(shown, [&](uint32_t a, uint32_t b) {
      if (weight(a) != weight(b)) return weight(a) > weight(b);
      return tree_.names->is_before(tree_.name[a], tree_.name[b]);
    });
    const bool any_cut = shown.size() < children_.of(at).size();
    if (any_cut) pending.emplace_back(static_cast<uint32_t>(tree_.size()) + at, indent);
    for (size_t i = shown.size(); i-- > 0;) {
      is_last_[shown[i]] = i + 1 == shown.size() && !any_cut;
      pending.emplace_back(shown[i], indent);
    }
  }

  void line(uint32_t at, const std::string& label) {
    const int64_t total = tree_.weights.total[at];
    const int64_t self = tree_.weights.self[at];
    const double share =
        p_.total == 0 ? 0 : static_cast<double>(total) / static_cast<double>(p_.total);
    std::string row =
        fmt::format("{:>10} {:>7} {:>10}  ", format_(total),
                    format_percent(static_cast<double>(total), static_cast<double>(p_.total)),
                    self == 0 || !shows_self_ ? "" : format_(self));
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
    for (const uint32_t child : children_.of(parent)) {
      if (shown_[child] != 0) continue;
      ++count;
      weight = saturating_add(weight, tree_.weights.total[child]);
    }
    const double share =
        p_.total == 0 ? 0 : static_cast<double>(weight) * 100 / static_cast<double>(p_.total);
    out_ += options_.style.dim(fmt::format("{:>10} {:>7} {:>10}  {}└ … {} more, {:.1f} %",
                                           format_(weight), "", "", indent, count, share)) +
            "\n";
  }

  const ReportHeader& p_;
  const FlameTree& tree_;
  const Children children_;
  const std::vector<uint8_t>& shown_;
  bool shows_self_;
  const ReportOptions& options_;
  ValueFormat format_;
  std::vector<bool> is_last_;
  std::string out_;
};

// -1 for the root.
int64_t parent_of(const FlameTree& tree, uint32_t node) {
  return node == 0 ? -1 : int64_t{tree.parent[node]};
}

std::string json(const ReportHeader& p, const FlameTree& tree, const std::vector<uint8_t>& shown) {
  JsonWriter out(0);
  out.begin_object();
  write_json_header(out, p);
  write_json_basis(out, p);
  size_t cut_nodes = 0;
  int64_t cut_self = 0;
  // A flat list with parents: deep trees would overflow the nesting limits of JSON readers.
  out.key("nodes").begin_array();
  for (uint32_t i = 0; i < tree.size(); ++i) {
    if (shown[i] == 0) {
      ++cut_nodes;
      cut_self = saturating_add(cut_self, tree.weights.self[i]);
      continue;
    }
    out.begin_object().field("id", uint64_t{i}).field("parent", parent_of(tree, i));
    out.field("name", tree.text(i));
    out.field("total", tree.weights.total[i]).field("self", tree.weights.self[i]).end_object();
  }
  return finish_json(out, p, cut_nodes, "self", cut_self);
}

std::string csv(const FlameTree& tree, const std::vector<uint8_t>& shown) {
  std::string out = "id,parent,depth,total,self,name\n";
  std::vector<uint32_t> depth(tree.size());
  for (uint32_t i = 0; i < tree.size(); ++i) {
    if (i != 0) depth[i] = depth[tree.parent[i]] + 1;
    if (shown[i] == 0) continue;
    out += fmt::format("{},{},{},{},{},{}\n", i, parent_of(tree, i), depth[i],
                       tree.weights.total[i], tree.weights.self[i], csv_field(tree.text(i)));
  }
  return out;
}

}  // namespace

std::vector<uint8_t> heaviest_nodes(const FlameTree& tree, const ReportOptions& options) {
  const double least = options.min_share * static_cast<double>(tree.whole);
  const auto weight = [&](uint32_t i) { return saturating_abs(tree.weights.total[i]); };
  std::vector<uint32_t> order;
  for (uint32_t i = 1; i < tree.size(); ++i) {
    if (static_cast<double>(weight(i)) >= least) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return weight(a) > weight(b); });
  std::vector<uint8_t> shown(tree.size());
  shown[0] = 1;
  size_t count = 0;
  for (const uint32_t i : order) {
    if (options.max_rows != 0 && count >= options.max_rows) break;
    if (shown[tree.parent[i]] == 0) continue;
    shown[i] = 1;
    ++count;
  }
  return shown;
}

std::string tree_report(const ReportHeader& header, const FlameTree& tree,
                        const std::vector<uint8_t>& shown, TreeDirection direction,
                        const ReportOptions& options) {
  if (options.format == ReportFormat::kJson) return json(header, tree, shown);
  if (options.format == ReportFormat::kCsv) return csv(tree, shown);
  return TreeText(header, tree, shown, direction, options).text();
}

}  // namespace vesta
