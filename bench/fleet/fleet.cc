#include "fleet/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/common/compression.h"
#include "formats/pprof/writer.h"
#include "profile/dictionary_builder.h"

namespace vesta {
namespace {

// splitmix64: small, fast, and the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(next() % limit); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

uint64_t mix(uint64_t a, uint64_t b) {
  return Random(a * 0x9E3779B97F4A7C15 + b).next();
}

}  // namespace

// The code of one service. Stacks grow from each other: a new one leaves an old one some frames
// before its end, so that the tree has about 5.5 nodes for each stack.
class CallTreeOfService {
 public:
  CallTreeOfService(const FleetShape& shape, uint32_t number) : random_(mix(shape.seed, number)) {
    add_code(shape, number);
    std::vector<std::vector<LocationId>> stacks;  // root first
    while (stacks.size() < shape.stacks) stacks.push_back(next_stack(shape, stacks));
    for (auto& stack : stacks) {
      std::ranges::reverse(stack);
      stacks_.push_back(dictionary_.stacks.add(stack));
    }
    // Which stacks are hot has nothing to do with when they were grown.
    for (size_t i = stacks_.size(); i > 1; --i)
      std::swap(stacks_[i - 1], stacks_[random_.below(static_cast<uint32_t>(i))]);
  }

  const Dictionary& dictionary() const { return dictionary_; }
  StackId by_rank(size_t rank) const { return stacks_[rank]; }

 private:
  void add_code(const FleetShape& shape, uint32_t number) {
    DictionaryBuilder builder(dictionary_);
    Mapping mapping;
    mapping.start = 0x400000;
    mapping.limit = 0x4000000;
    mapping.file = builder.string(fmt::format("/app/bin/service-{:03}", number));
    mapping.build_id =
        builder.string(fmt::format("{:016x}{:016x}", random_.next(), random_.next()));
    mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = true;
    const MappingId binary = builder.mapping(mapping);
    std::vector<FunctionId> functions;
    for (uint32_t i = 0; i < shape.functions; ++i) {
      const uint32_t package = random_.below(shape.functions / 25 + 1);
      const StringId name = builder.string(fmt::format("service{:03}/package{}.(*Type{}).Method{}",
                                                       number, package, random_.below(100), i));
      const StringId file = builder.string(
          fmt::format("/src/service{:03}/package{}/file{}.go", number, package, i % 9));
      functions.push_back(builder.function({name, name, file, 1 + random_.below(2000)}));
    }
    for (uint32_t i = 0; i < shape.frames; ++i) {
      const FunctionId function = functions[size_t{i} * functions.size() / shape.frames];
      const int64_t start = dictionary_.function(function).start_line;
      const Line line{function, 0, start + 1 + random_.below(60)};
      frames_.push_back(dictionary_.add_location(
          {0x400000 + uint64_t{i} * 64 + random_.below(64), binary, FrameKind::kGo, false},
          std::span<const Line>(&line, 1)));
    }
  }

  // Some code is called from everywhere: the frame of a new node is a common one more often.
  LocationId any_frame() {
    const double skewed = std::pow(random_.unit(), 5);
    return frames_[static_cast<size_t>(skewed * static_cast<double>(frames_.size()))];
  }

  std::vector<LocationId> next_stack(const FleetShape& shape,
                                     const std::vector<std::vector<LocationId>>& stacks) {
    constexpr size_t kEntryPoints = 4;
    std::vector<LocationId> stack;
    size_t more = shape.depth / 2 + random_.below(shape.depth + 1);
    if (stacks.size() >= kEntryPoints) {
      stack = stacks[random_.below(static_cast<uint32_t>(stacks.size()))];
      size_t cut = 1;  // geometric
      while (cut < stack.size() - 1 && random_.below(11) < 9) ++cut;
      stack.resize(stack.size() - cut);
      more = cut + random_.below(3);
      // Back towards the mean, or depths would drift apart.
      if (more > 1 && stack.size() + more > shape.depth) --more;
      if (more > 1 && random_.below(2) == 0) --more;
    }
    for (; more > 0; --more) stack.push_back(any_frame());
    return stack;
  }

  Random random_;
  Dictionary dictionary_;
  std::vector<LocationId> frames_;
  std::vector<StackId> stacks_;  // the hottest first
};

Fleet::Fleet(const FleetShape& shape) : shape_(shape) {
  for (uint32_t i = 0; i < shape.services; ++i)
    trees_.push_back(std::make_unique<CallTreeOfService>(shape, i));
  double sum = 0;
  for (uint32_t rank = 1; rank <= shape.stacks; ++rank) zipf_.push_back(sum += 1.0 / rank);
  for (size_t i = 0; i <= kGuides; ++i) {
    const double share = static_cast<double>(i) / kGuides * sum;
    guides_.push_back(std::ranges::lower_bound(zipf_, share) - zipf_.begin());
  }
}

Fleet::~Fleet() = default;

std::string Fleet::service_name(uint32_t service) const {
  return fmt::format("service-{:03}", service);
}

void Fleet::set_labels(ProfileBatch& batch, Profile& profile, std::string_view service,
                       uint32_t pod) {
  // Not through a builder: it would index all of the dictionary for each profile.
  Dictionary& d = batch.dictionary;
  const auto add = [&](std::string_view key, std::string_view value) {
    d.label_sets.push({d.strings.add(key), LabelKind::kString, d.strings.add(value), {}, 0});
  };
  add("namespace", "production");
  add("node", fmt::format("node-{}", (pod * 7 + service.size()) % 100));
  add("pod", fmt::format("{}-{:010x}", service, mix(pod, 77) >> 24));
  add("service_name", service);
  add("version", "1.4.2");
  add("zone", pod % 2 == 0 ? "eu-1a" : "eu-1b");
  profile.resource = d.label_sets.close();
}

Profile Fleet::drawn(uint32_t service, uint32_t pod, int64_t start_ns, uint64_t interval) const {
  Random random(mix(mix(shape_.seed ^ 0xF1EE7, service), (interval << 16) + pod));
  std::vector<uint32_t> ranks(shape_.min_draws +
                              random.below(shape_.max_draws - shape_.min_draws + 1));
  for (uint32_t& rank : ranks) {
    const double unit = random.unit();
    const auto guide = static_cast<size_t>(unit * kGuides);
    const auto at = std::lower_bound(zipf_.begin() + guides_[guide],
                                     zipf_.begin() + guides_[guide + 1], unit * zipf_.back());
    rank = static_cast<uint32_t>(std::min<size_t>(at - zipf_.begin(), zipf_.size() - 1));
  }
  std::ranges::sort(ranks);
  Profile profile;
  profile.time_ns = start_ns + static_cast<int64_t>(interval) * kIntervalNs;
  profile.duration_ns = kIntervalNs;
  profile.period = kPeriodNs;
  profile.sample_types.resize(1);
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i;
    while (end < ranks.size() && ranks[end] == ranks[i]) ++end;
    profile.samples.stacks.push_back(tree(service).by_rank(ranks[i]));
    profile.samples.values.push_back(static_cast<int64_t>(end - i) * kPeriodNs);
    i = end;
  }
  return profile;
}

ProfileBatch Fleet::profile(uint32_t service, uint32_t pod, int64_t start_ns,
                            uint64_t interval) const {
  const Dictionary& from = tree(service).dictionary();
  Profile profile = drawn(service, pod, start_ns, interval);
  ProfileBatch batch;
  Dictionary& to = batch.dictionary;
  std::vector<LocationId> locations(from.locations.size());
  std::vector<FunctionId> functions(from.functions.size());
  std::vector<StringId> strings(from.strings.size());
  const auto string = [&](StringId id) {
    if (id && !strings[id.index()]) strings[id.index()] = to.strings.add(from.string(id));
    return strings[id.index()];
  };
  Mapping mapping = from.mappings[1];
  mapping.file = string(mapping.file);
  mapping.build_id = string(mapping.build_id);
  to.mappings.push_back(mapping);
  for (StackId& stack : profile.samples.stacks) {
    for (const LocationId old : from.stacks[stack]) {
      LocationId& location = locations[old.index()];
      if (!location) {
        Line line = from.lines[old].front();
        FunctionId& function = functions[line.function.index()];
        if (!function) {
          Function copy = from.function(line.function);
          copy.name = string(copy.name);
          copy.system_name = string(copy.system_name);
          copy.file = string(copy.file);
          to.functions.push_back(copy);
          function = FunctionId(to.functions.size() - 1);
        }
        line.function = function;
        location = to.add_location(from.location(old), std::span<const Line>(&line, 1));
      }
      to.stacks.push(location);
    }
    stack = to.stacks.close();
  }
  const StringId cpu = to.strings.add("cpu");
  const StringId nanoseconds = to.strings.add("nanoseconds");
  profile.name = to.strings.add("process_cpu");
  profile.sample_types[0] = {cpu, nanoseconds, Temporality::kCumulative};
  profile.period_type = profile.sample_types[0];
  set_labels(batch, profile, service_name(service), pod);
  batch.profiles.push_back(std::move(profile));
  return batch;
}

std::string Fleet::gzip_pprof(uint32_t service, uint32_t pod, int64_t start_ns,
                              uint64_t interval) const {
  ProfileBatch batch = profile(service, pod, start_ns, interval);
  batch.profiles.front().resource = {};
  return gzip(write_pprof(batch));
}

ProfileBatch Fleet::batch(uint32_t service, int64_t start_ns, uint64_t first_interval,
                          uint64_t intervals) const {
  ProfileBatch batch;
  batch.dictionary = tree(service).dictionary();
  Dictionary& d = batch.dictionary;
  const SampleType cpu{d.strings.add("cpu"), d.strings.add("nanoseconds"),
                       Temporality::kCumulative};
  const StringId name = d.strings.add("process_cpu");
  for (uint32_t pod = 0; pod < shape_.pods; ++pod) {
    LabelSetId labels;
    for (uint64_t i = 0; i < intervals; ++i) {
      Profile profile = drawn(service, pod, start_ns, first_interval + i);
      profile.name = name;
      profile.sample_types[0] = profile.period_type = cpu;
      if (i == 0) {
        set_labels(batch, profile, service_name(service), pod);
        labels = profile.resource;
      }
      profile.resource = labels;
      batch.profiles.push_back(std::move(profile));
    }
  }
  return batch;
}

}  // namespace vesta
