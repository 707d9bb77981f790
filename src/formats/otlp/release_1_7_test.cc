#include "formats/otlp/release_1_7.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/otlp/reader.h"
#include "formats/protobuf/wire.h"
#include "profile/frame_name.h"
#include "profile/profile.h"

namespace vesta::otlp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A message as async-profiler 4.2 writes it: two types, samples as ranges of one list of locations,
// location 0 a placeholder, the times before the types.
class Message1_7 {
 public:
  Message1_7() {
    strings_ = {"", "cpu", "count", "ns", "main", "work", "thread"};
    sample(0, 2, {3, 30});
    sample(2, 1, {4, 40});
  }

  Message1_7& sample(uint64_t start, uint64_t length, std::vector<uint64_t> values,
                     std::vector<uint64_t> times = {}) {
    WireWriter out;
    out.uint64(1, start);
    out.uint64(2, length);
    out.packed(3, values, [](uint64_t v) { return v; });
    const std::vector<uint64_t> attributes{0};
    if (with_attribute) out.packed(4, attributes, [](uint64_t v) { return v; });
    out.packed(6, times, [](uint64_t v) { return v; });
    samples_.message(2, out);
    return *this;
  }
  Message1_7& without_samples() {
    samples_.clear();
    return *this;
  }

  std::string encode() const {
    WireWriter profile;
    profile.uint64(4, 1'700'000'000'000'000'000);
    profile.uint64(5, 2'000'000'000);
    profile.always_bytes(1, "\x08\x01\x10\x02");
    profile.always_bytes(1, "\x08\x01\x10\x03");
    profile.append(samples_);
    profile.always_bytes(3, "\x02\x01\x02");  // work main, work
    profile.uint64(9, default_type);
    WireWriter scope;
    scope.message(2, profile);
    WireWriter resource;
    resource.message(2, scope);
    WireWriter dictionary;
    dictionary.always_bytes(1, "");
    dictionary.always_bytes(3, std::string("\x08\x00", 2));
    dictionary.always_bytes(3, "\x08\x04");
    dictionary.always_bytes(3, "\x08\x05");
    for (char function = 0; function < 3; ++function) {
      dictionary.always_bytes(
          2, std::string("\x08\x00\x1a\x04\x08", 5) + function + std::string("\x10\x07", 2));
    }
    for (const std::string& text : strings_) dictionary.always_bytes(5, text);
    // Attribute 0 is a real one: key "thread", value "t1".
    dictionary.always_bytes(6, "\x0a\x06thread\x12\x04\x0a\x02t1");
    WireWriter out;
    out.message(1, resource);
    out.message(2, dictionary);
    return out.take();
  }

  bool with_attribute = false;
  uint64_t default_type = 0;

 private:
  std::vector<std::string> strings_;
  WireWriter samples_;
};

// "work<main 3 30 thread=t1"
std::vector<std::string> rows(const ProfileBatch& batch) {
  std::vector<std::string> out;
  const Profile& p = batch.profiles.at(0);
  const Dictionary& d = batch.dictionary;
  for (size_t row = 0; row < p.samples.size(); ++row) {
    std::string text;
    for (const LocationId location : d.stacks[p.samples.stacks[row]]) {
      for (const Line& line : d.lines[location])
        text += (text.empty() ? "" : "<") + std::string(d.string(d.function(line.function).name));
    }
    for (const int64_t value : p.values(row)) text += " " + std::to_string(value);
    for (const Label& label : d.label_sets[p.samples.label_set(row)])
      text += " " + std::string(d.string(label.key)) + "=" + std::string(d.string(label.text));
    out.push_back(text);
  }
  return out;
}

ProfileBatch must_read(const std::string& bytes, const ReadOptions& options = {}) {
  EXPECT_TRUE(looks_like_otlp(bytes));
  auto batch = read_otlp(bytes, options);
  EXPECT_TRUE(batch.ok()) << batch.error().message;
  if (!batch) return {};
  EXPECT_EQ(find_inconsistency(*batch), "");
  return std::move(*batch);
}

TEST(Otlp1_7, ReadsSeveralTypesAndRangesOfLocations) {
  const ProfileBatch batch = must_read(Message1_7().encode());
  ASSERT_EQ(batch.profiles.size(), 1u);
  const Profile& p = batch.profiles[0];
  EXPECT_THAT(rows(batch), ElementsAre("work<main 3 30", "work 4 40"));
  ASSERT_EQ(p.sample_types.size(), 2u);
  EXPECT_EQ(batch.dictionary.string(p.sample_types[0].unit), "count");
  EXPECT_EQ(batch.dictionary.string(p.sample_types[1].unit), "ns");
  EXPECT_EQ(p.default_type, 1u);
  EXPECT_EQ(p.time_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(p.duration_ns, 2'000'000'000);
  EXPECT_TRUE(p.losses.empty());
}

TEST(Otlp1_7, AttributeZeroIsARealOne) {
  Message1_7 message;
  message.with_attribute = true;
  EXPECT_THAT(rows(must_read(message.without_samples().sample(0, 2, {3, 30}).encode())),
              ElementsAre("work<main 3 30 thread=t1"));
}

TEST(Otlp1_7, TimesThatTheValuesCountAreKept) {
  ReadOptions options;
  options.keep_timestamps = true;
  const auto read = [&](std::vector<uint64_t> values, std::vector<uint64_t> times) {
    const ProfileBatch batch = must_read(
        Message1_7().without_samples().sample(0, 1, std::move(values), std::move(times)).encode(),
        options);
    return std::pair(total_of(batch.profiles[0], 0), total_of(batch.profiles[0], 1));
  };
  EXPECT_EQ(read({2, 20}, {1000, 2000}), std::pair(int64_t{2}, int64_t{20}));
  EXPECT_EQ(read({1, 10}, {1000}), std::pair(int64_t{1}, int64_t{10}));
  EXPECT_EQ(read({}, {1000, 2000, 3000}), std::pair(int64_t{3}, int64_t{3}));
}

TEST(Otlp1_7, ErrorsNameWhatIsWrong) {
  const auto error = [](const Message1_7& message) {
    const auto batch = read_otlp(message.encode(), {});
    return batch.ok() ? "no error" : batch.error().message;
  };
  EXPECT_THAT(error(Message1_7().sample(2, 2, {1, 2})), HasSubstr("OTLP 1.7: byte"));
  EXPECT_THAT(error(Message1_7().sample(2, 2, {1, 2})),
              HasSubstr("locations 2 to 4 of a list of 3"));
  EXPECT_THAT(error(Message1_7().sample(UINT64_MAX, 2, {1, 2})), HasSubstr("of a list of 3"));
  EXPECT_THAT(error(Message1_7().sample(0, 1, {1})), HasSubstr("1 values for 2 sample types"));
}

TEST(Otlp1_7, EveryPrefixIsAnsweredWithAResult) {
  const std::string whole = Message1_7().encode();
  for (size_t size = 1; size < whole.size(); ++size) {
    const auto batch = read_otlp(whole.substr(0, size), {});
    if (batch.ok()) {
      EXPECT_EQ(find_inconsistency(*batch), "") << size;
    }
    const auto rewritten = from_release_1_7(whole.substr(0, size));
    if (!rewritten.ok()) {
      EXPECT_NE(rewritten.error().message, "") << size;
    }
  }
}

TEST(Otlp1_7, OverlappingRangesAreBounded) {
  WireWriter samples;
  std::vector<uint64_t> locations(20'000, 1);
  for (uint64_t start = 0; start < 2'000; ++start) {
    WireWriter sample;
    sample.uint64(1, start);
    sample.uint64(2, 15'000);
    sample.always_bytes(3, "\x01");
    samples.message(2, sample);
  }
  WireWriter profile;
  profile.always_bytes(1, "\x08\x01\x10\x02");
  profile.append(samples);
  profile.packed(3, locations, [](uint64_t v) { return v; });
  WireWriter scope;
  scope.message(2, profile);
  WireWriter resource;
  resource.message(2, scope);
  WireWriter message;
  message.message(1, resource);
  const auto rewritten = from_release_1_7(message.view());
  ASSERT_FALSE(rewritten.ok());
  EXPECT_THAT(rewritten.error().message, HasSubstr("number of frames"));
}

}  // namespace
}  // namespace vesta::otlp
