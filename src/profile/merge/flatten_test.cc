#include <gtest/gtest.h>

#include <algorithm>

#include "profile/dictionary_builder.h"
#include "profile/merge/merge.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

using test::batch_from;
using test::dump;
using test::random_batch;
using test::total_of_type;

std::vector<std::string> labels_of(const ProfileBatch& batch, size_t row) {
  std::vector<std::string> out;
  const Dictionary& d = batch.dictionary;
  for (const Label& label : d.label_sets[batch.profiles[0].samples.label_set(row)])
    out.push_back(std::string(d.string(label.key)) + "=" + std::string(d.string(label.text)));
  return out;
}

TEST(FlattenTest, KeepsTheTotalOfEveryType) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    test::RandomOptions options;
    options.profiles = 4;
    const ProfileBatch batch = random_batch(seed, options);
    const ProfileBatch flat = flatten(batch);
    ASSERT_EQ(flat.profiles.size(), 1u);
    EXPECT_EQ(find_inconsistency(flat), "");
    for (const std::string_view type : {"cpu", "inuse_space"})
      EXPECT_EQ(total_of_type(flat, type), total_of_type(batch, type));
    EXPECT_LE(flat.profiles[0].samples.values.size(), flattened_value_count(batch));
  }
}

TEST(FlattenTest, TimesOfDifferentKindsThatAreCalledAlikeAreNotAddedUp) {
  ProfileBatch named = batch_from({{"main;lock", 3}}, "delay", "nanoseconds");
  named.profiles.push_back(named.profiles[0]);
  named.profiles[0].name = named.dictionary.strings.add("mutex");
  named.profiles[1].name = named.dictionary.strings.add("block");
  for (int64_t& value : named.profiles[1].samples.values) value = 40;
  const ProfileBatch flat = flatten(named);
  EXPECT_EQ(total_of_type(flat, "mutex_duration"), 3);
  EXPECT_EQ(total_of_type(flat, "block_duration"), 40);
  named.profiles.pop_back();
  EXPECT_EQ(total_of_type(flatten(named), "delay"), 3) << "nothing to tell apart";
}

TEST(FlattenTest, OneProfileWithoutAResourceStaysAsItIs) {
  const ProfileBatch batch = batch_from({{"main;b", 1}, {"main;a", 2}, {"main;b", 3}});
  EXPECT_EQ(dump(flatten(batch)), dump(batch));
}

TEST(FlattenTest, AnEmptyBatchBecomesAnEmptyProfile) {
  const ProfileBatch flat = flatten(ProfileBatch());
  ASSERT_EQ(flat.profiles.size(), 1u);
  EXPECT_EQ(flat.profiles[0].samples.size(), 0u);
}

TEST(FlattenTest, ResourcesBecomeLabelsAndSamplesHaveTheLastWord) {
  ProfileBatch batch =
      batch_from({{"main", 1, {{"thread", "t1"}, {"service_name", "own"}}}, {"main", 2}});
  DictionaryBuilder b(batch.dictionary);
  const Label resource[] = {b.text_label("service_name", "web"), b.text_label("host", "h")};
  batch.profiles[0].resource = b.label_set(resource);
  const ProfileBatch flat = flatten(batch);
  EXPECT_FALSE(flat.profiles[0].resource);
  std::vector<std::string> first = labels_of(flat, 0);
  std::ranges::sort(first);
  EXPECT_EQ(first, (std::vector<std::string>{"host=h", "service_name=own", "thread=t1"}));
  std::vector<std::string> second = labels_of(flat, 1);
  std::ranges::sort(second);
  EXPECT_EQ(second, (std::vector<std::string>{"host=h", "service_name=web"}));
}

TEST(FlattenTest, ProfilesWithDifferentTypesShareRows) {
  ProfileBatch batch = batch_from({{"main", 5}});
  DictionaryBuilder b(batch.dictionary);
  Profile second = batch.profiles[0];
  second.sample_types = {{b.string("alloc_space"), b.string("bytes")}};
  second.samples.values = {64};
  batch.profiles.push_back(second);
  const ProfileBatch flat = flatten(batch);
  const Profile& p = flat.profiles[0];
  ASSERT_EQ(p.sample_types.size(), 2u);
  ASSERT_EQ(p.samples.size(), 1u);
  EXPECT_EQ(p.samples.values, (std::vector<int64_t>{5, 64}));
}

TEST(FlattenTest, ATypeThatAProfileHasTwiceKeepsTwoColumns) {
  ProfileBatch batch = batch_from({{"main", 5}});
  Profile& p = batch.profiles[0];
  p.sample_types.push_back(p.sample_types[0]);
  p.samples.values = {5, 7};
  batch.profiles.push_back(p);
  const ProfileBatch flat = flatten(batch);
  EXPECT_EQ(flat.profiles[0].sample_types.size(), 2u);
  EXPECT_EQ(flat.profiles[0].samples.values, (std::vector<int64_t>{10, 14}));
}

TEST(FlattenTest, TypesAreComparedByTextNotById) {
  ProfileBatch batch = batch_from({{"main", 5}});
  Profile second = batch.profiles[0];
  second.sample_types[0].type = batch.dictionary.strings.add("cpu");
  batch.profiles.push_back(second);
  EXPECT_EQ(flatten(batch).profiles[0].sample_types.size(), 1u);
}

TEST(FlattenTest, SaysBeforehandHowManyValuesItWouldMake) {
  ProfileBatch batch;
  DictionaryBuilder b(batch.dictionary);
  for (int i = 0; i < 10; ++i) {
    Profile p;
    p.sample_types = {{b.string("type" + std::to_string(i)), StringId()}};
    const int64_t value = 1;
    for (int row = 0; row < 5; ++row) p.add_sample({}, std::span<const int64_t>(&value, 1));
    batch.profiles.push_back(p);
  }
  EXPECT_EQ(flattened_value_count(batch), 500u);
}

}  // namespace
}  // namespace vesta
