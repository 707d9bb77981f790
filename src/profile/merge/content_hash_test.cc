#include "profile/merge/content_hash.h"

#include <gtest/gtest.h>

#include <set>

#include "profile/dictionary_builder.h"
#include "profile/merge/merge.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

// All that may tell two frames apart.
struct Frame {
  std::string name = "work";
  std::string system_name = "_Z4workv";
  std::string file = "work.cc";
  int64_t line = 12;
  uint32_t column = 0;
  FrameKind kind = FrameKind::kNative;
  std::string binary = "/bin/app";
  std::string build_id = "abc";
  uint64_t mapped_at = 0x400000;
  uint64_t offset = 0x123;
  bool has_name = true;
  int caller_lines = 0;  // functions that it was inlined into
};

Hash128 hash_of(const Frame& frame) {
  Dictionary d;
  DictionaryBuilder b(d);
  Mapping m;
  m.file = b.string(frame.binary);
  m.build_id = b.string(frame.build_id);
  m.start = frame.mapped_at;
  m.limit = m.start + 0x10000;
  Location l;
  l.mapping = b.mapping(m);
  l.address = m.start + frame.offset;
  l.kind = frame.kind;
  std::vector<Line> lines;
  if (frame.has_name) {
    Function f;
    f.name = b.string(frame.name);
    f.system_name = b.string(frame.system_name);
    f.file = b.string(frame.file);
    lines.push_back({b.function(f), frame.column, frame.line});
    for (int i = 0; i < frame.caller_lines; ++i) lines.push_back(lines[0]);
  }
  const LocationId id = b.location(l, lines);
  const StackId stack = b.stack(std::span<const LocationId>(&id, 1));
  return stack_hashes(d)[stack.index()];
}

// The value is stored; if this fails, stored data no longer meets new data.
TEST(ContentHashTest, TheValueIsTheSameInEveryRelease) {
  EXPECT_EQ(hash_of({}), (Hash128{0x822713e8d2fed7fe, 0xcedd93d4bd52d0c0}));
  EXPECT_EQ(stack_hashes(Dictionary())[0], (Hash128{0x7d0cae2125c61857, 0x2f7a3d1561e0117e}));
}

TEST(ContentHashTest, WhereABinaryIsMappedPlaysNoPart) {
  EXPECT_EQ(hash_of({}), hash_of({.mapped_at = 0x7f0000000000}));
  EXPECT_EQ(hash_of({.has_name = false}), hash_of({.mapped_at = 0x900000, .has_name = false}));
}

TEST(ContentHashTest, NamesStandForAddresses) {
  EXPECT_EQ(hash_of({}), hash_of({.offset = 0x456}));
  EXPECT_NE(hash_of({.has_name = false}), hash_of({.offset = 0x456, .has_name = false}));
}

TEST(ContentHashTest, ABuildIdStandsForThePath) {
  EXPECT_EQ(hash_of({}), hash_of({.binary = "/other/path"}));
  EXPECT_NE(hash_of({.build_id = ""}), hash_of({.binary = "/other/path", .build_id = ""}));
  // A path that reads like a build id is none.
  EXPECT_NE(hash_of({}), hash_of({.binary = "abc", .build_id = ""}));
}

TEST(ContentHashTest, AnyDifferenceInContentShows) {
  const Frame frames[] = {
      {},
      {.name = "other"},
      {.system_name = "_Z5otherv"},
      {.file = "other.cc"},
      {.line = 13},
      {.column = 4},
      {.kind = FrameKind::kKernel},
      {.build_id = "def"},
      {.has_name = false},
      {.caller_lines = 1},
      // Texts that run together must not look alike.
      {.name = "wor", .system_name = "k_Z4workv"},
      {.system_name = "_Z4workvwork", .file = ".cc"},
      // Nor texts that changed places.
      {.name = "_Z4workv", .system_name = "work"},
  };
  std::set<std::pair<uint64_t, uint64_t>> seen;
  for (const Frame& frame : frames) {
    const Hash128 hash = hash_of(frame);
    EXPECT_TRUE(seen.emplace(hash.high, hash.low).second) << frame.name << " " << frame.file;
  }
}

TEST(ContentHashTest, OrderAndNumberOfFramesMatter) {
  Dictionary d;
  DictionaryBuilder b(d);
  const LocationId x = b.frame("x");
  const LocationId y = b.frame("y");
  for (const auto& list :
       {std::vector{x, y}, std::vector{y, x}, std::vector{x}, std::vector{x, x, y}})
    b.stack(list);
  std::set<std::pair<uint64_t, uint64_t>> seen;
  for (const Hash128 hash : stack_hashes(d)) seen.emplace(hash.high, hash.low);
  EXPECT_EQ(seen.size(), d.stacks.size());
}

TEST(ContentHashTest, MergingKeepsTheHashes) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const ProfileBatch batch = test::random_batch(seed);
    const auto used = [](const ProfileBatch& b) {
      const auto hashes = stack_hashes(b.dictionary);
      std::set<std::pair<uint64_t, uint64_t>> out;
      for (const Profile& p : b.profiles) {
        for (const StackId id : p.samples.stacks)
          out.emplace(hashes[id.index()].high, hashes[id.index()].low);
      }
      return out;
    };
    EXPECT_EQ(used(canonicalize(batch)), used(batch));
  }
}

// As tables straight from a file may have it.
TEST(ContentHashTest, ATextThatIsThereTwiceIsTheSameText) {
  const ProfileBatch batch = test::random_batch(1);
  ProfileBatch copied = batch;
  Dictionary& d = copied.dictionary;
  for (Function& function : d.functions) {
    for (StringId* id : {&function.name, &function.system_name, &function.file}) {
      if (*id) *id = d.strings.add(std::string(d.string(*id)));
    }
  }
  EXPECT_EQ(stack_hashes(d), stack_hashes(batch.dictionary));
}

}  // namespace
}  // namespace vesta
