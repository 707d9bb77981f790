#include "ingest/go_stacks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/table_hash.h"

namespace vesta {
namespace {

// How many frames in a row must be the same, and how many callers one stack may add.
constexpr size_t kOverlap = 16;
constexpr size_t kMostCallers = 8;
// Stacks below this are neither taken for cut, nor asked for callers.
constexpr size_t kShortest = kOverlap + kMostCallers;
// Stacks that lengthen each other in turn: beyond this it is recursion, where nothing can be told.
constexpr size_t kMostLinks = 56;
// Some stacks are cut a little before the limit.
constexpr size_t kSlack = 4;
constexpr size_t kHeapDepth = 32;
constexpr size_t kCpuDepth = 64;

using Stack = std::span<const LocationId>;  // leaf first

bool has_type(const Dictionary& dictionary, const Profile& profile,
              std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(profile.sample_types, [&](const SampleType& type) {
    return std::ranges::find(names, dictionary.string(type.type)) != names.end();
  });
}

bool may_be_cut(const Dictionary& dictionary, const Profile& profile) {
  size_t least = kCpuDepth - kSlack;
  size_t most = SIZE_MAX;
  if (has_type(dictionary, profile,
               {"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"})) {
    least = kHeapDepth - kSlack;
    most = kHeapDepth;  // deeper ones are of a runtime that does not cut there
  } else if (!has_type(dictionary, profile, {"cpu"})) {
    return false;
  }
  size_t deepest = 0;
  for (const StackId stack : profile.samples.stacks)
    deepest = std::max(deepest, dictionary.stacks[stack].size());
  return deepest >= least && deepest <= most;
}

bool is_go(const Dictionary& dictionary) {
  return std::ranges::any_of(dictionary.functions, [&](const Function& function) {
    return dictionary.string(function.file).ends_with(".go");
  });
}

uint64_t hash_of(Stack frames) {
  return hash64({reinterpret_cast<const char*>(frames.data()), frames.size_bytes()});
}

// Stacks that are the same where it matters: they lack the same callers.
struct Group {
  std::vector<StackId> stacks;
};

// Another group has these frames too, and `callers` more outside of them.
struct Donor {
  size_t group = SIZE_MAX;
  size_t callers = 0;
};

class Repair {
 public:
  explicit Repair(DictionaryBuilder& builder) : builder_(builder), stacks_(builder.dictionary()) {}

  // The new id of each stack that changes.
  std::unordered_map<uint32_t, StackId> run(const Profile& profile) {
    find_groups(profile);
    find_donors();
    std::vector<std::pair<StackId, std::vector<LocationId>>> longer;
    for (size_t i = 0; i < groups_.size(); ++i) {
      const auto callers = callers_of(i);
      if (!callers) return {};
      if (callers->empty()) continue;
      for (const StackId stack : groups_[i].stacks) {
        const Stack frames = stacks_.stacks[stack];
        std::vector<LocationId> all(frames.begin(), frames.end());
        all.insert(all.end(), callers->begin(), callers->end());
        longer.emplace_back(stack, std::move(all));
      }
    }
    std::unordered_map<uint32_t, StackId> changed;
    for (const auto& [stack, frames] : longer) changed.emplace(stack.value, builder_.stack(frames));
    return changed;
  }

 private:
  Stack outermost(size_t group, size_t count) const {
    return Stack(stacks_.stacks[groups_[group].stacks.front()]).last(count);
  }

  void find_groups(const Profile& profile) {
    std::vector<StackId> long_ones = profile.samples.stacks;
    std::ranges::sort(long_ones, {}, &StackId::value);
    long_ones.erase(std::unique(long_ones.begin(), long_ones.end()), long_ones.end());
    // Ordered, so that equal profiles are repaired alike.
    std::map<std::vector<uint32_t>, size_t> known;
    for (const StackId stack : long_ones) {
      const Stack frames = stacks_.stacks[stack];
      if (frames.size() < kShortest) continue;
      std::vector<uint32_t> key;
      for (const LocationId frame : frames.last(kShortest)) key.push_back(frame.value);
      const auto [entry, is_new] = known.try_emplace(std::move(key), groups_.size());
      if (is_new) groups_.emplace_back();
      groups_[entry->second].stacks.push_back(stack);
    }
  }

  // For each run of frames, the stack that has the most callers of it.
  void find_donors() {
    std::unordered_map<uint64_t, Donor, TableKeyHash> by_run;
    for (size_t i = 0; i < groups_.size(); ++i) {
      const Stack frames = outermost(i, kShortest);
      for (size_t callers = 1; callers <= kMostCallers; ++callers) {
        const Stack run = frames.subspan(kShortest - callers - kOverlap, kOverlap);
        Donor& best = by_run[hash_of(run)];
        if (callers > best.callers) best = {i, callers};
      }
    }
    donors_.resize(groups_.size());
    for (size_t i = 0; i < groups_.size(); ++i) {
      const auto found = by_run.find(hash_of(outermost(i, kOverlap)));
      if (found != by_run.end() && found->second.group != i) donors_[i] = found->second;
    }
  }

  // What the group lacks: nothing, or callers that its donor has, or that one's donor, and so on.
  // None where they lead in a circle.
  std::optional<std::vector<LocationId>> callers_of(size_t group) const {
    Donor donor = donors_[group];
    size_t callers = 0;
    for (size_t links = 0; donor.callers > 0; ++links) {
      if (links == kMostLinks) return {};
      callers += donor.callers;
      const Donor& next = donors_[donor.group];
      if (next.callers == 0) break;
      donor = next;
    }
    if (callers == 0) return std::vector<LocationId>();
    const Stack whole = stacks_.stacks[groups_[donor.group].stacks.front()];
    if (callers >= whole.size()) return std::vector<LocationId>();
    const Stack missing = whole.last(callers);
    return std::vector<LocationId>(missing.begin(), missing.end());
  }

  DictionaryBuilder& builder_;
  const Dictionary& stacks_;
  std::vector<Group> groups_;
  std::vector<Donor> donors_;  // by group
};

}  // namespace

uint64_t repair_go_stacks(DictionaryBuilder& builder, Profile& profile) {
  Dictionary& dictionary = builder.dictionary();
  if (!may_be_cut(dictionary, profile) || !is_go(dictionary)) return 0;
  const auto changed = Repair(builder).run(profile);
  if (changed.empty()) return 0;
  Samples& samples = profile.samples;
  const Label mark = builder.text_label(kRepairedLabel, "true");
  std::unordered_map<uint32_t, LabelSetId> marked;
  uint64_t count = 0;
  for (size_t row = 0; row < samples.size(); ++row) {
    const auto found = changed.find(samples.stacks[row].value);
    if (found == changed.end()) continue;
    samples.stacks[row] = found->second;
    if (samples.labels.empty()) samples.labels.resize(samples.size());
    const auto [entry, is_new] = marked.try_emplace(samples.labels[row].value);
    if (is_new) {
      const auto items = dictionary.label_sets[samples.labels[row]];
      std::vector<Label> labels(items.begin(), items.end());
      labels.push_back(mark);
      entry->second = builder.label_set(labels);
    }
    samples.labels[row] = entry->second;
    ++count;
  }
  profile.add_loss(dictionary.strings.intern(kLossRepairedStack), count);
  return count;
}

}  // namespace vesta
