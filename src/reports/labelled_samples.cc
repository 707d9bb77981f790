#include "reports/labelled_samples.h"

#include <map>
#include <unordered_map>
#include <utility>

#include "profile/frame_filter.h"
#include "profile/merge/content_hash.h"
#include "store/engine.h"

namespace vesta {
namespace {

std::string_view service_of(const Dictionary& dictionary, LabelSetId resource) {
  for (const Label& label : dictionary.label_sets[resource])
    if (dictionary.string(label.key) == kServiceLabel) return dictionary.string(label.text);
  return {};
}

}  // namespace

SampleStacks::SampleStacks(const Dictionary& dictionary)
    : dictionary_(dictionary), hashes_(stack_hashes(dictionary)), writer_(tree_) {}

void SampleStacks::add(StackId stack, int64_t weight, std::vector<int64_t>& weights) {
  const size_t at =
      writer_.number(numbers_, hashes_[stack.index()], dictionary_, stack, frames_).index();
  if (weights.size() <= at) weights.resize(at + 1);
  weights[at] = saturating_add(weights[at], weight);
}

Status keep_labelled(ProfileBatch& batch, const FrameFilters& filters) {
  VESTA_ASSIGN(const FrameFilter filter, FrameFilter::compile(batch.dictionary, filters, "", "",
                                                              FrameFilter::Spelling::kParameter));
  for (Profile& profile : batch.profiles) {
    const Samples all = std::exchange(profile.samples, {});
    const size_t types = profile.sample_types.size();
    std::unordered_map<LabelSetId, bool> known;
    for (size_t row = 0; row < all.size(); ++row) {
      const LabelSetId labels = all.label_set(row);
      const auto [passes, is_new] = known.try_emplace(labels, false);
      if (is_new) passes->second = filter.passes(labels, profile.resource);
      if (!passes->second) continue;
      profile.add_sample(all.stacks[row], std::span(all.values).subspan(row * types, types), labels,
                         all.link(row), all.time_ns(row));
    }
  }
  return {};
}

Selection with_stacks_of(Selection whole, const ProfileBatch& samples) {
  SampleStacks stacks(samples.dictionary);
  std::map<std::string_view, std::vector<int64_t>> services;
  for (const Profile& profile : samples.profiles) {
    std::vector<int64_t>& weights = services[service_of(samples.dictionary, profile.resource)];
    for (size_t row = 0; row < profile.samples.size(); ++row)
      stacks.add(profile.samples.stacks[row], profile.value(row, 0), weights);
  }
  whole.services.clear();
  for (auto& [name, weights] : services) {
    if (!weights.empty())
      whole.services.push_back({std::string(name), stacks.tree(), std::move(weights)});
  }
  return whole;
}

}  // namespace vesta
