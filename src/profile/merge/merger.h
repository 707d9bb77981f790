// The work behind merge(), delta() and comparisons: takes batches one by one, so that none has to
// stay in memory, and adds up what belongs together. Owns what it has gathered. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "base/id_index.h"
#include "profile/dictionary_builder.h"
#include "profile/merge/dictionary_map.h"
#include "profile/merge/mapping_unifier.h"
#include "profile/profile.h"
#include "profile/sample_table.h"

namespace vesta {

// Several readings of one source are kept apart by side: each side has its own columns of values,
// so that one row holds what a stack weighed before and after. Headers are those of the last side.
class Merger {
 public:
  static constexpr size_t kMaxSides = 2;

  explicit Merger(size_t sides = 1)
      : builder_(batch_.dictionary), unifier_(builder_), sides_(sides) {}
  Merger(const Merger&) = delete;
  Merger& operator=(const Merger&) = delete;

  // The prefix goes before the names of the profiles; profiles of different names stay apart.
  void add(const ProfileBatch& batch, size_t side = 0, std::string_view name_prefix = {});

  struct Origin {
    std::array<int64_t, kMaxSides> members{};  // how many profiles were added up
    std::array<int64_t, kMaxSides> time_ns{};
    std::array<int64_t, kMaxSides> duration_ns{};
  };
  struct Gathered {
    ProfileBatch batch;           // values of side 0, then of side 1, in each row
    std::vector<Origin> origins;  // of each profile
    MappingId main_mapping;
  };
  // All there is, in order of appearance; entries that nobody uses may be among it. Call once.
  Gathered take();

 private:
  struct Group {
    Group(Profile head, size_t columns) : profile(std::move(head)), samples(columns) {}
    Profile profile;
    SampleTable samples;
    Origin origin;
    // Finds comments and losses by text; a hostile header may have very many.
    IdIndex comments;
    IdIndex losses;
  };

  void add(const Profile& from, DictionaryMap& map, size_t side, std::string_view name_prefix);
  void merge_header(Group& group, const Profile& from, DictionaryMap& map);
  Group& group_for(const Profile& head);
  StringId lesser(StringId a, StringId b) const;

  ProfileBatch batch_;
  DictionaryBuilder builder_;
  MappingUnifier unifier_;
  size_t sides_;
  MappingId main_mapping_;
  std::deque<Group> groups_;
  IdIndex group_index_;
  std::vector<int64_t> row_;  // scratch
};

// The earlier of two times; zero means "not known" and does not win over a known one.
int64_t earlier(int64_t a, int64_t b);

}  // namespace vesta
