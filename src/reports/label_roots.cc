#include "reports/label_roots.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "base/table_hash.h"
#include "profile/merged_profile.h"
#include "reports/labelled_samples.h"

namespace vesta {
namespace {

std::string value_text(const Dictionary& dictionary, LabelSetId labels, std::string_view name) {
  for (const Label& label : dictionary.label_sets[labels]) {
    if (dictionary.string(label.key) != name) continue;
    return label.kind == LabelKind::kString ? std::string(dictionary.string(label.text))
                                            : std::to_string(label.number);
  }
  return {};
}

void add_weight(std::vector<int64_t>& weights, size_t stack, int64_t weight) {
  if (weights.size() <= stack) weights.resize(stack + 1);
  weights[stack] = saturating_add(weights[stack], weight);
}

void add_losses(std::vector<LossCount>& to, const std::vector<LossCount>& from) {
  for (const LossCount& loss : from) {
    const auto same = std::ranges::find(to, loss.reason, &LossCount::reason);
    if (same == to.end()) {
      to.push_back(loss);
    } else {
      same->count += loss.count;
    }
  }
}

// The values of a label among samples, numbered.
class SampleValues {
 public:
  SampleValues(const ProfileBatch& batch, std::string_view label)
      : batch_(batch), label_(label), by_set_(batch.dictionary.label_sets.size(), kUnseen) {}

  uint32_t number(LabelSetId labels) {
    uint32_t& known = by_set_[labels.index()];
    if (known == kUnseen) {
      const auto [at, is_new] = numbers_.try_emplace(value_text(batch_.dictionary, labels, label_),
                                                     static_cast<uint32_t>(texts_.size()));
      if (is_new) texts_.push_back(at->first);
      known = at->second;
    }
    return known;
  }
  const std::vector<std::string_view>& texts() const { return texts_; }

  // visit(number of the value, stack, weight) for every sample.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (const Profile& profile : batch_.profiles) {
      if (profile.sample_types.empty()) continue;
      for (size_t row = 0; row < profile.samples.size(); ++row) {
        uint32_t value = number(profile.samples.label_set(row));
        if (texts_[value].empty()) value = number(profile.resource);
        visit(value, profile.samples.stacks[row], profile.value(row, 0));
      }
    }
  }

 private:
  static constexpr uint32_t kUnseen = UINT32_MAX;
  const ProfileBatch& batch_;
  std::string_view label_;
  std::vector<uint32_t> by_set_;
  std::unordered_map<std::string, uint32_t, TableKeyHash> numbers_;
  std::vector<std::string_view> texts_;
};

using Sizes = std::map<std::string, int64_t, std::less<>>;

void add_sizes(const LabelledSide& side, std::string_view label, Sizes& sizes) {
  const auto add = [&](std::string_view value, int64_t weight) {
    auto at = sizes.find(value);
    if (at == sizes.end()) at = sizes.emplace(value, 0).first;
    at->second = saturating_add(at->second, saturating_abs(weight));
  };
  if (!side.samples) {
    for (const Selection& group : side.groups) add(label_value(group.group, label), group.total);
    return;
  }
  SampleValues values(*side.samples, label);
  std::vector<int64_t> totals;
  values.for_each(
      [&](uint32_t value, StackId, int64_t weight) { add_weight(totals, value, weight); });
  for (size_t value = 0; value < totals.size(); ++value) add(values.texts()[value], totals[value]);
}

// How many values may have a node of their own. Weights of samples take a number for each stack and
// node.
size_t most_roots(const LabelledSide* side) {
  constexpr size_t kMaxWeights = 32 << 20;
  if (side == nullptr || !side->samples) return kMaxLabelRoots;
  const size_t stacks = std::max<size_t>(side->samples->dictionary.stacks.size(), 1);
  return std::clamp<size_t>(kMaxWeights / stacks, 1, kMaxLabelRoots);
}

// The name of the node for each value.
using RootNames = std::map<std::string, std::string, std::less<>>;

RootNames name_roots(std::string_view label, const Sizes& sizes, size_t most) {
  std::vector<std::pair<std::string, int64_t>> order(sizes.begin(), sizes.end());
  std::ranges::stable_sort(order, std::greater(), &std::pair<std::string, int64_t>::second);
  // A node for the rest stands for two values at least.
  const size_t shown = order.size() <= most ? order.size() : most - 1;
  const std::string rest = fmt::format("{}=… ({} more)", label, order.size() - shown);
  RootNames names;
  for (size_t i = 0; i < order.size(); ++i)
    names[order[i].first] = i < shown ? fmt::format("{}={}", label, order[i].first) : rest;
  return names;
}

// The samples as a selection for each node.
void split(const ProfileBatch& batch, std::string_view label, const RootNames& names,
           std::vector<TreePart>& parts, std::deque<Selection>& owned) {
  SampleStacks stacks(batch.dictionary);
  SampleValues values(batch, label);
  std::map<std::string_view, std::vector<int64_t>> weights;  // by node, then by stack
  std::vector<std::vector<int64_t>*> weights_of;             // by value
  values.for_each([&](uint32_t value, StackId stack, int64_t weight) {
    if (weights_of.size() <= value) weights_of.resize(value + 1);
    if (weights_of[value] == nullptr)
      weights_of[value] = &weights[names.find(values.texts()[value])->second];
    stacks.add(stack, weight, *weights_of[value]);
  });
  for (auto& [name, of_node] : weights) {
    Selection selection;
    for (const int64_t weight : of_node) selection.total = saturating_add(selection.total, weight);
    selection.services.push_back({"", stacks.tree(), std::move(of_node)});
    owned.push_back(std::move(selection));
    parts.push_back({&owned.back(), std::string(name)});
  }
}

}  // namespace

LabelRoots label_roots(std::string_view label, const LabelledSide* before,
                       const LabelledSide& after) {
  Sizes sizes;
  if (before != nullptr) add_sizes(*before, label, sizes);
  add_sizes(after, label, sizes);
  const RootNames names =
      name_roots(label, sizes, std::min(most_roots(before), most_roots(&after)));
  LabelRoots roots;
  const auto add_parts = [&](const LabelledSide& side, std::vector<TreePart>& parts) {
    if (side.samples) split(*side.samples, label, names, parts, roots.owned);
    if (side.total) {
      int64_t left_out = *side.total;
      for (const TreePart& part : parts)
        left_out = saturating_subtract(left_out, part.selection->total);
      roots.owned.emplace_back().total = left_out;
      parts.push_back({&roots.owned.back(), ""});
    }
    if (side.samples) return;
    for (const Selection& group : side.groups)
      parts.push_back({&group, names.find(label_value(group.group, label))->second});
  };
  if (before != nullptr) add_parts(*before, roots.before);
  add_parts(after, roots.after);
  return roots;
}

Selection add_up(std::span<const Selection> selections) {
  Selection out;
  std::map<std::string_view, ServiceStacks> services;
  for (const Selection& selection : selections) {
    const bool is_first = out.profiles == 0;
    if (selection.profiles != 0) {
      out.first_ns = is_first ? selection.first_ns : std::min(out.first_ns, selection.first_ns);
      out.last_ns = is_first ? selection.last_ns : std::max(out.last_ns, selection.last_ns);
    }
    out.type = selection.type;
    out.total = saturating_add(out.total, selection.total);
    out.profiles += selection.profiles;
    out.period = std::max(out.period, selection.period);
    out.covered.add(selection.covered);
    add_losses(out.losses, selection.losses);
    for (const ServiceStacks& service : selection.services) {
      const auto [at, is_new] = services.try_emplace(service.service, service);
      if (is_new) continue;
      // Snapshots of one tree: the longer one knows all stacks of the other.
      if (service.tree.stack_count() > at->second.tree.stack_count())
        at->second.tree = service.tree;
      for (size_t stack = 0; stack < service.weights.size(); ++stack)
        add_weight(at->second.weights, stack, service.weights[stack]);
    }
  }
  for (auto& [name, service] : services) out.services.push_back(std::move(service));
  return out;
}

}  // namespace vesta
