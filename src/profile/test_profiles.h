// Profiles for tests: small ones written as text, random ones from a seed, and a way to compare
// two. Used by tests and benchmarks only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/frame_profile.h"
#include "profile/merged_profile.h"
#include "profile/profile.h"

namespace vesta::test {

struct FoldedStack {
  std::string_view stack;  // root first: "main;work;leaf"
  int64_t value = 0;
  std::vector<std::pair<std::string_view, std::string_view>> labels = {};
};

// One profile of type cpu in nanoseconds. A frame may have a file and a line, "work@src/a.cc:12",
// and a location may have several lines, inlined ones last: "outer>inner".
ProfileBatch batch_from(const std::vector<FoldedStack>& stacks, std::string_view type = "cpu",
                        std::string_view unit = "nanoseconds");

// Every table and every profile in full: equal texts mean equal batches, ids and all.
std::string dump(const ProfileBatch& batch);

// What the batch says, whatever its ids are: for each profile, stack, labels and type, the sum.
std::map<std::string, int64_t> meaning(const ProfileBatch& batch);

// The samples of one profile in their order, "root;leaf 3 1000" each, with all values; kernel
// frames in braces.
std::vector<std::string> rows(const ProfileBatch& batch, size_t profile = 0);

// Sum of the column of that type over all profiles.
int64_t total_of_type(const ProfileBatch& batch, std::string_view type);

struct RandomOptions {
  size_t profiles = 2;
  size_t samples = 40;
  size_t functions = 12;
  size_t mappings = 3;
  int64_t max_value = 1000;
  bool address_randomisation = true;
};
// The same seed gives the same batch. Seeds share functions, binaries and label values, so that
// batches of different seeds have much in common.
ProfileBatch random_batch(uint64_t seed, const RandomOptions& options = {});

// The default type of the batch, resolved; the test fails by exception when that is not possible.
MergedProfile merged(ProfileBatch batch, std::string_view type = {});
FrameProfile frames(ProfileBatch batch, const FrameOptions& options = {},
                    std::string_view type = {});

// The frame with this display name; FrameId() when there is none.
FrameId frame_named(const FrameProfile& profile, std::string_view name);

// What is left after filtering, as "main;work;leaf" -> weight; an empty stack is "".
std::map<std::string, int64_t> folded(const FrameProfile& profile);

}  // namespace vesta::test
