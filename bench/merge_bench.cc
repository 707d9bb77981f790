// Merging a thousand profiles of one program, as a server does for a query and `vesta merge` for
// files. Prints a markdown table. Target: under half a second on one core for every row.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string_view>
#include <vector>

#include "profile/dictionary_builder.h"
#include "profile/flame_tree.h"
#include "profile/merge/merge.h"
#include "profile/merged_profile.h"
#include "reports/function_table.h"

namespace {

using namespace vesta;

constexpr size_t kProfiles = 1000;
constexpr size_t kStacks = 500;
constexpr size_t kFunctions = 1000;
constexpr size_t kLocations = 1500;
constexpr size_t kDepth = 30;

// A program as a tree of calls: each stack is a walk through it, so that stacks share their outer
// frames as real ones do.
class Program {
 public:
  explicit Program(uint64_t seed) : random_(seed) {
    for (size_t i = 0; i < kStacks; ++i) stacks_.push_back(walk());
  }

  std::vector<uint32_t> walk() {
    std::vector<uint32_t> stack;  // root first
    const size_t depth = kDepth - 5 + random_() % 11;
    uint32_t at = 0;
    for (size_t i = 0; i < depth; ++i) {
      stack.push_back(at);
      at = (at * 7 + 1 + static_cast<uint32_t>(random_() % 3)) % kLocations;
    }
    std::ranges::reverse(stack);
    return stack;
  }

  const std::vector<std::vector<uint32_t>>& stacks() const { return stacks_; }
  uint64_t random() { return random_(); }

 private:
  std::mt19937_64 random_;
  std::vector<std::vector<uint32_t>> stacks_;
};

// What one process reports: its own addresses, its own order of tables, and a share of stacks that
// no other profile has.
ProfileBatch make_profile(Program& program, double unique_share) {
  ProfileBatch batch;
  DictionaryBuilder builder(batch.dictionary);
  Mapping mapping;
  mapping.start = 0x550000000000 + (program.random() % 4096 << 12);
  mapping.limit = mapping.start + 0x800000;
  mapping.file = builder.string("/usr/local/bin/checkout");
  mapping.build_id = builder.string("5f3d0c1b9a7e4d2886c1");
  mapping.has_functions = true;
  const MappingId main = builder.mapping(mapping);
  const auto location = [&](uint32_t index) {
    const size_t function = index % kFunctions;
    const Line line{
        builder.function(fmt::format("checkout::service::Handler{}::process_request", function),
                         fmt::format("src/service/handler_{}.cc", function / 8),
                         static_cast<int64_t>(10 + function)),
        0, static_cast<int64_t>(20 + index)};
    Location place;
    place.address = mapping.start + 0x1000 + uint64_t{index} * 64;
    place.mapping = main;
    place.kind = FrameKind::kNative;
    return builder.location(place, std::span<const Line>(&line, 1));
  };
  Profile profile;
  profile.sample_types.push_back({builder.string("samples"), builder.string("count")});
  profile.sample_types.push_back({builder.string("cpu"), builder.string("nanoseconds")});
  profile.period_type = {builder.string("cpu"), builder.string("nanoseconds")};
  profile.period = 10'101'010;
  std::vector<LocationId> stack;
  for (size_t i = 0; i < kStacks; ++i) {
    const bool is_unique = static_cast<double>(i) < unique_share * static_cast<double>(kStacks);
    stack.clear();
    for (const uint32_t index : is_unique ? program.walk() : program.stacks()[i])
      stack.push_back(location(index));
    const auto count = static_cast<int64_t>(1 + program.random() % 9);
    const int64_t values[] = {count, count * profile.period};
    profile.add_sample(builder.stack(stack), values);
  }
  batch.profiles.push_back(std::move(profile));
  return batch;
}

// Time on the processor, not on the wall, so that other work on the machine counts less; best of
// five.
double seconds_of(auto&& work) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const std::clock_t start = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

void run(std::string_view name, double unique_share) {
  Program program(42);
  std::vector<ProfileBatch> batches;
  std::vector<const ProfileBatch*> pointers;
  for (size_t i = 0; i < kProfiles; ++i) batches.push_back(make_profile(program, unique_share));
  int64_t expected = 0;
  for (const ProfileBatch& batch : batches) {
    pointers.push_back(&batch);
    expected += total_of(batch.profiles[0], 1);
  }
  ProfileBatch merged;
  const double merge_seconds = seconds_of([&] { merged = merge(pointers); });
  if (total_of(merged.profiles[0], 1) != expected) {
    fmt::print(stderr, "the merge lost weight\n");
    std::exit(1);
  }
  const size_t stacks = merged.profiles[0].samples.size();
  const auto shared = std::make_shared<const ProfileBatch>(std::move(merged));
  const auto type = find_type(list_types(*shared), "cpu");
  size_t rows = 0;
  const double top_seconds = seconds_of([&] {
    const auto frames = resolve_frames(select_type(shared, *type), {});
    rows = top_functions(*frames, {}).rows.size();
  });
  size_t nodes = 0;
  const double tree_seconds = seconds_of([&] {
    const auto frames = resolve_frames(select_type(shared, *type), {});
    nodes = build_flame_tree(*frames, TreeDirection::kTopDown).size();
  });
  fmt::print("| {} | {} | {:.0f} ms | {:.0f} ms | {:.0f} ms | {} | {} |\n", name, stacks,
             merge_seconds * 1e3, top_seconds * 1e3, tree_seconds * 1e3, rows, nodes);
  std::fflush(stdout);
}

}  // namespace

int main() {
  fmt::print("{} profiles of {} stacks, about {} deep\n\n", kProfiles, kStacks, kDepth);
  fmt::print("| Variant | Stacks after | Merge | Top table | Call tree | Rows | Nodes |\n");
  fmt::print("|---|---|---|---|---|---|---|\n");
  run("same stacks everywhere", 0);
  run("half of the stacks unique", 0.5);
  return 0;
}
