#include "formats/otlp/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/otlp/reader.h"
#include "formats/otlp/test_message.h"
#include "profile/profile.h"

namespace vesta::otlp {
namespace {

using testing::HasSubstr;

// The total of the one profile, or the error.
std::string read_total(const TestMessage& message, OtlpLayout layout = OtlpLayout::kAuto) {
  ReadOptions options;
  options.otlp_layout = layout;
  const auto batch = read_otlp(message.encode(), options);
  if (!batch) return batch.error().message + " | " + batch.error().hint;
  EXPECT_EQ(find_inconsistency(*batch), "");
  const Profile& profile = batch->profiles.at(0);
  size_t labels = 0;
  for (size_t row = 0; row < profile.samples.size(); ++row)
    labels += batch->dictionary.label_sets[profile.samples.label_set(row)].size();
  return std::to_string(total_of(profile, 0)) + " with " + std::to_string(labels) + " labels";
}

TEST(OtlpLayout, WireTypesTellReleasesApart) {
  for (const Layout& layout : {kLayout1_8, kLayout1_9, kLayout1_10}) {
    TestMessage m;
    m.layout = layout;
    m.samples = {{1, {2}, {3, 4}, 1, {}}, {2, {3}, {}, 0, {}}};
    EXPECT_EQ(read_total(m), "5 with 2 labels");
    // With attributes alone, or a link alone, too.
    m.samples = {{1, {2}, {3}, 0, {}}};
    EXPECT_EQ(read_total(m), "2 with 1 labels");
    m.samples = {{1, {2}, {}, 1, {}}};
    EXPECT_EQ(read_total(m), "2 with 0 labels");
    m.samples = {{1, {2, 3}, {3}, 0, {100, 101}}};
    EXPECT_EQ(read_total(m), "5 with 1 labels");
  }
}

TEST(OtlpLayout, OneLoneValueIsNoAttribute) {
  // Field 2 with nothing else: values of 1.9; in 1.10 the sample would count nothing.
  TestMessage m;
  m.layout = kLayout1_9;
  m.samples = {{1, {2}, {}, 0, {}}, {2, {4}, {}, 0, {}}};
  EXPECT_EQ(read_total(m), "6 with 0 labels");
  m.layout = kLayout1_10;
  EXPECT_EQ(read_total(m), "6 with 0 labels");
}

TEST(OtlpLayout, ValuesBeyondTheAttributeTableAreValues) {
  TestMessage m;
  m.layout = kLayout1_9;
  m.samples = {{1, {1'000'000}, {}, 0, {100}}, {1, {3}, {}, 0, {100}}};
  EXPECT_EQ(read_total(m), "1000003 with 0 labels");
}

TEST(OtlpLayout, AttributesThatAreNotAsManyAsTimestampsAreAttributes) {
  TestMessage m;
  m.samples = {{1, {}, {3, 4}, 0, {100, 200, 300}}, {1, {}, {3}, 0, {100}}};
  EXPECT_EQ(read_total(m), "4 with 3 labels");
}

TEST(OtlpLayout, AttributesOfNobodyElseBelongToSamples) {
  // Two attributes, two timestamps: legal both ways. Read as values, attributes 3 and 4 would be
  // there for nothing.
  TestMessage m;
  m.samples = {{1, {}, {3, 4}, 0, {100, 200}}};
  EXPECT_EQ(read_total(m), "2 with 2 labels");
}

TEST(OtlpLayout, AttributesOfMappingsAndLocationsAreNoSampleAttributes) {
  TestMessage m;
  m.layout = kLayout1_9;
  m.with_sample_attributes = false;
  m.samples = {{1, {1, 2}, {}, 0, {100, 200}}};
  EXPECT_EQ(read_total(m), "3 with 0 labels");
}

TEST(OtlpLayout, RefusesWhatCanBeReadTwoWaysUnlessTold) {
  TestMessage m;
  m.layout = kLayout1_9;
  m.more_attributes = {TestMessage::attribute(5, TestMessage::number(1))};
  m.samples = {{1, {3}, {}, 0, {100}}};
  EXPECT_THAT(read_total(m), HasSubstr("both readings are legal | choose with --otlp-layout"));
  EXPECT_EQ(read_total(m, OtlpLayout::kV1_9), "3 with 0 labels");
  EXPECT_EQ(read_total(m, OtlpLayout::kV1_10), "1 with 1 labels");
}

TEST(OtlpLayout, RefusesAMixture) {
  TestMessage old;
  old.layout = kLayout1_9;
  TestMessage m;
  m.samples = {{1, {2}, {3, 4}, 1, {}}};
  WireWriter sample;
  sample.always_bytes(2, old.encode_sample({1, {2}, {3, 4}, 1, {}}));
  m.profile_fields = sample.take();
  EXPECT_THAT(read_total(m), HasSubstr("some samples have the numbering of 1.9"));
}

TEST(OtlpLayout, FieldsOf1_8AreRecognised) {
  TestMessage m;
  m.layout = kLayout1_8;
  m.samples = {{1, {9}, {}, 0, {}}};
  WireWriter extra;
  const std::vector<int64_t> comments{5, 6};
  extra.packed(7, comments);
  extra.bytes(8, std::string(16, 'i'));
  extra.uint64(9, 3);
  extra.bytes(10, "jfr");
  extra.bytes(11, "payload");
  m.profile_fields = extra.take();
  const auto batch = read_otlp(m.encode(), {});
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  const Profile& p = batch->profiles[0];
  ASSERT_EQ(p.comments.size(), 2u);
  EXPECT_EQ(batch->dictionary.string(p.comments[1]), "b");
  ASSERT_EQ(p.losses.size(), 1u);
  EXPECT_EQ(p.losses[0].count, 3u);
  EXPECT_EQ(total_of(p, 0), 9);
}

TEST(OtlpLayout, PayloadsAreNotMistakenForAttributes) {
  TestMessage m;
  m.samples = {{1, {9}, {}, 0, {}}};
  WireWriter extra;
  extra.bytes(7, std::string(16, 'i'));
  extra.bytes(9, "pprof");
  extra.bytes(10, "payload");
  m.profile_fields = extra.take();
  EXPECT_EQ(read_total(m), "9 with 0 labels");
}

TEST(OtlpLayout, TablesBesideTheProfilesAre1_6) {
  WireWriter profile;
  profile.always_bytes(1, "\x08\x01\x10\x02");
  WireWriter scope;
  scope.message(2, profile);
  WireWriter resource;
  resource.message(2, scope);
  WireWriter data;
  data.message(1, resource);
  data.always_bytes(2, "\x08\x01");
  data.always_bytes(2, "\x08\x02");
  data.always_bytes(3, "\x08\x01");
  data.always_bytes(8, "");
  EXPECT_TRUE(looks_like_otlp(data.view()));
  const auto batch = read_otlp(data.view(), {});
  ASSERT_FALSE(batch.ok());
  EXPECT_THAT(batch.error().message, HasSubstr("OTLP profiles 1.6"));
}

}  // namespace
}  // namespace vesta::otlp
