#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hex.h"
#include "formats/otlp/base64.h"
#include "formats/otlp/reader.h"
#include "formats/otlp/test_message.h"
#include "formats/otlp/writer.h"

namespace vesta {
namespace {

using otlp::TestMessage;
using testing::HasSubstr;

std::string error_of(std::string_view json) {
  const auto batch = read_otlp_json(json, {});
  EXPECT_FALSE(batch.ok());
  return batch.ok() ? "" : batch.error().message;
}

constexpr std::string_view kDocument = R"({
  "resourceProfiles": [{
    "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
    "scopeProfiles": [{
      "scope": {"name": "agent"},
      "profiles": [{
        "sampleType": {"typeStrindex": 1, "unitStrindex": 2},
        "samples": [
          {"stackIndex": 1, "values": ["5"], "linkIndex": 1, "attributeIndices": [1]},
          {"stack_index": 1, "timestamps_unix_nano": ["1700000000000000000", 1700000000000000001]}
        ],
        "timeUnixNano": "1700000000000000000", "durationNano": 1e9,
        "profileId": "000102030405060708090a0b0c0d0e0f",
        "unheardOf": {"x": [1, 2]}, "periodType": null
      }]
    }]
  }],
  "dictionary": {
    "stringTable": ["", "samples", "count", "main", "thread.id"],
    "functionTable": [{}, {"nameStrindex": 3}],
    "locationTable": [{}, {"lines": [{"functionIndex": 1, "line": "12"}], "address": "0"}],
    "stackTable": [{}, {"locationIndices": [1]}],
    "mappingTable": [{}],
    "linkTable": [{}, {"traceId": "AAECAwQFBgcICQoLDA0ODw==", "spanId": "0001020304050607"}],
    "attributeTable": [{}, {"keyStrindex": 4, "value": {"intValue": "77"}}]
  }
})";

TEST(OtlpJson, ReadsBothSpellingsAndNumbersAsText) {
  EXPECT_TRUE(looks_like_otlp_json(kDocument));
  const auto batch = read_otlp_json(kDocument, {});
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  EXPECT_EQ(find_inconsistency(*batch), "");
  const Profile& p = batch->profiles.at(0);
  EXPECT_EQ(total_of(p, 0), 7);
  EXPECT_EQ(p.time_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(p.duration_ns, 1'000'000'000);
  EXPECT_EQ(batch->dictionary.links.at(1).trace_id[15], 15);
  EXPECT_EQ(batch->dictionary.links.at(1).span_id[7], 7);
  EXPECT_EQ(batch->dictionary.label_sets[p.samples.label_set(0)][0].number, 77);
  EXPECT_EQ(batch->dictionary.lines[LocationId(1)][0].line, 12);
}

TEST(OtlpJson, SaysTheSameAsProtobuf) {
  TestMessage m;
  m.samples = {{1, {5}, {3, 4}, 1, {}}, {2, {7, INT64_MAX}, {}, 0, {100, 200}}};
  m.profile_attributes = {4};
  WireWriter scope;
  scope.bytes(1, "a\"b<c");
  m.scope = scope.take();
  ReadOptions options;
  options.keep_timestamps = true;
  const auto batch = read_otlp(m.encode(), options);
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  const std::string json = write_otlp_json(*batch);
  EXPECT_TRUE(looks_like_otlp_json(json));
  EXPECT_FALSE(looks_like_otlp(json));
  EXPECT_THAT(json, HasSubstr(R"("traceId":"01010101010101010101010101010101")"));
  EXPECT_THAT(json, HasSubstr(R"("values":["7","9223372036854775807"])"));
  EXPECT_THAT(json, HasSubstr(R"("stackIndex":1)"));
  const auto again = read_otlp_json(json, options);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(write_otlp(*again), write_otlp(*batch));
  EXPECT_EQ(write_otlp_json(*again), json);
}

TEST(OtlpJson, ErrorsNameThePath) {
  EXPECT_THAT(error_of(R"({"resourceProfiles": 3})"),
              HasSubstr("resourceProfiles: must be an array"));
  EXPECT_THAT(error_of(R"([1])"), HasSubstr("must be an object"));
  EXPECT_THAT(error_of(R"({"dictionary": {"linkTable": [{}, {"traceId": "0102"}]}})"),
              HasSubstr("dictionary.linkTable[1].traceId: must be 16 bytes"));
  EXPECT_THAT(error_of(R"({"dictionary": {"functionTable": [{}, {"nameStrindex": 1.5}]}})"),
              HasSubstr("functionTable[1].nameStrindex: must be a 64-bit integer"));
  EXPECT_THAT(error_of(R"({"dictionary": {"functionTable": [{}, {"nameStrindex": 7}]}})"),
              HasSubstr("OTLP JSON: dictionary.functionTable[1].nameStrindex: 7 is outside"));
  EXPECT_THAT(
      error_of(R"({"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"timeUnixNano": -1}]}]}]})"),
      HasSubstr("profiles[0].timeUnixNano"));
  EXPECT_FALSE(read_otlp_json("", {}).ok());
  EXPECT_FALSE(read_otlp_json("main;f 3", {}).ok());
}

TEST(OtlpJson, RefusesWhatIsCutOffAnywhere) {
  for (size_t size = 0; size + 1 < kDocument.size(); ++size)
    EXPECT_FALSE(read_otlp_json(kDocument.substr(0, size), {}).ok()) << size;
}

TEST(OtlpJson, RefusesDepth) {
  std::string nested;
  for (int i = 0; i < 50; ++i) nested += R"({"arrayValue":{"values":[)";
  nested += R"({"intValue":1})";
  for (int i = 0; i < 50; ++i) nested += "]}}";
  EXPECT_THAT(error_of(R"({"dictionary":{"attributeTable":[{},{"value":)" + nested + "}]}}"),
              HasSubstr("nest deeper"));
  EXPECT_FALSE(read_otlp_json(std::string(100'000, '['), {}).ok());
}

TEST(OtlpJson, NamesOf1_8AreReadAnd1_7Refused) {
  const auto batch = read_otlp_json(
      R"({"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sample":[{"values":[3]}],
          "commentStrindices":[1]}]}]}],"dictionary":{"stringTable":["","hello"]}})",
      {});
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  EXPECT_EQ(total_of(batch->profiles[0], 0), 3);
  EXPECT_EQ(batch->profiles[0].comments.size(), 1u);
  EXPECT_THAT(error_of(R"({"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sample":[
                          {"locationsStartIndex":0,"locationsLength":2,"value":[3]}]}]}]}]})"),
              HasSubstr("1.7 or older"));
  EXPECT_THAT(
      error_of(R"({"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sampleType":[{}]}]}]}]})"),
      HasSubstr("1.7 or older"));
}

TEST(OtlpJson, KnowsItsOwnKind) {
  EXPECT_FALSE(looks_like_otlp_json(R"({"profiles":["resourceProfiles"]})"));
  EXPECT_FALSE(looks_like_otlp_json(R"({"name":"\"resourceProfiles\" : x"})"));
  EXPECT_FALSE(looks_like_otlp_json(""));
  EXPECT_TRUE(looks_like_otlp_json("\n{ \"resource_profiles\" : []}"));
}

TEST(OtlpJson, Base64AndHex) {
  for (const std::string bytes : {"", "a", "ab", "abc", "\xff\xfe\xfd\xfc"}) {
    EXPECT_EQ(otlp::from_base64(otlp::to_base64(bytes)), bytes);
    EXPECT_EQ(from_hex(to_hex(bytes)), bytes);
  }
  EXPECT_EQ(otlp::to_base64("abcd"), "YWJjZA==");
  EXPECT_FALSE(otlp::from_base64("a*"));
  EXPECT_FALSE(otlp::from_base64("a"));
  EXPECT_FALSE(from_hex("0"));
  EXPECT_FALSE(from_hex("0g"));
}

}  // namespace
}  // namespace vesta
