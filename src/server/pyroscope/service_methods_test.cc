// The services besides the querier: settings, capabilities, rules.
#include <capabilities/v1/feature_flags.pb.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <settings/v1/setting.pb.h>

#include "server/pyroscope/test_server.h"

namespace vesta::server {
namespace {

using test::TestServer;
using ::testing::HasSubstr;
using ::testing::Not;

Caller tenant(std::string name) {
  Caller caller;
  caller.tenant = std::move(name);
  return caller;
}

TEST(SettingsServiceTest, KeepsSettingsOfEachTenant) {
  TestServer server;
  const auto call = [&](std::string_view method, std::string body, const Caller& caller = {}) {
    return server.post("/settings.v1.SettingsService/" + std::string(method), "application/json",
                       std::move(body), {}, caller);
  };
  EXPECT_EQ(call("Get", "{}").body, "{}");
  const HttpResponse set =
      call("Set", R"({"setting":{"name":"maxNodes","value":"100","modifiedAt":"5"}})");
  EXPECT_EQ(set.status, 200);
  EXPECT_EQ(set.body, R"({"setting":{"name":"maxNodes","value":"100","modifiedAt":"5"}})");
  EXPECT_EQ(call("Set", R"({"setting":{"name":"a","value":"{\"x\":1}"}})").status, 200);
  EXPECT_EQ(call("Set", R"({"setting":{"name":"maxNodes","value":"7","modifiedAt":"6"}})").status,
            200);
  const std::string both = call("Get", "{}").body;
  EXPECT_THAT(both, HasSubstr(R"({"name":"maxNodes","value":"7","modifiedAt":"6"})"));
  EXPECT_THAT(both, HasSubstr(R"({"settings":[{"name":"a","value":"{\"x\":1}","modifiedAt":"1706)"))
      << "in order of names, with the time of the server where none is sent";
  EXPECT_EQ(call("Get", "{}", tenant("other")).body, "{}");
  EXPECT_EQ(call("Delete", R"({"name":"maxNodes"})").status, 200);
  EXPECT_EQ(call("Delete", R"({"name":"maxNodes"})").status, 200);
  EXPECT_THAT(call("Get", "{}").body, Not(HasSubstr("maxNodes")));
}

TEST(SettingsServiceTest, RefusesOldAndOversizedValues) {
  TestServer server;
  const auto set = [&](std::string name, std::string value, int64_t modified_at) {
    settings::v1::SetSettingsRequest request;
    request.mutable_setting()->set_name(std::move(name));
    request.mutable_setting()->set_value(std::move(value));
    request.mutable_setting()->set_modifiedat(modified_at);
    return server
        .post("/settings.v1.SettingsService/Set", "application/proto", request.SerializeAsString())
        .status;
  };
  EXPECT_EQ(set("a", "new", 10), 200);
  EXPECT_EQ(set("a", "old", 9), 400);
  EXPECT_EQ(set("", "x", 1), 400);
  EXPECT_EQ(set("big", std::string(70'000, 'x'), 1), 413);
  for (int i = 1; i < 200; ++i) ASSERT_EQ(set("n" + std::to_string(i), "", 1), 200);
  EXPECT_EQ(set("one too many", "", 1), 413);
  EXPECT_EQ(set("a", "newer", 11), 200);
}

TEST(CapabilityMethodsTest, SayWhatThereIs) {
  const TestServer server;
  const auto post = [&](std::string_view path) {
    return server.post(path, "application/json", "{}");
  };
  EXPECT_EQ(post("/version.v1.Version/Version").body, R"({"QuerierAPI":"1"})");
  capabilities::v1::GetFeatureFlagsResponse flags;
  ASSERT_TRUE(flags.ParseFromString(
      server.post("/capabilities.v1.FeatureFlagsService/GetFeatureFlags", "application/proto", "")
          .body));
  ASSERT_EQ(flags.feature_flags_size(), 4);
  EXPECT_EQ(flags.feature_flags(2).name(), "utf8LabelNames");
  EXPECT_TRUE(flags.feature_flags(2).enabled());
  EXPECT_FALSE(flags.feature_flags(0).enabled());
}

TEST(CapabilityMethodsTest, ThereAreNoRules) {
  const TestServer server;
  for (const char* kind : {"Recording", "Collection"}) {
    const std::string service = std::string("/settings.v1.") + kind + "RulesService/";
    const std::string rule = std::string(kind) + "Rule";
    const HttpResponse list = server.post(service + "List" + rule + "s", "application/json", "{}");
    EXPECT_EQ(list.status, 200);
    EXPECT_EQ(list.body, "{}");
    EXPECT_EQ(server.post(service + "Get" + rule, "application/json", R"({"id":"x"})").status, 404);
    EXPECT_EQ(server.post(service + "Upsert" + rule, "application/json", "{}").status, 501);
  }
}

}  // namespace
}  // namespace vesta::server
