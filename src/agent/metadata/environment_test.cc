#include "agent/metadata/environment.h"

#include <gtest/gtest.h>

namespace vesta::agent {
namespace {

using namespace std::string_literals;  // NOLINT(google-build-using-namespace): texts with zeros

TEST(Environment, AProcessDoesNotSayWhoSendsItsProfiles) {
  const Attributes got = parse_resource_attributes(
      "telemetry.sdk.name=libdatadog,telemetry.distro.name=x,agent.name=y,pyroscope_spy=z,a=1");
  EXPECT_EQ(got, (Attributes{{"a", "1"}}));
}

TEST(Environment, OnlyWhatWasMeantToBeExportedIsKept) {
  const Attributes got = parse_environment(
      "SECRET=hunter2\0OTEL_SERVICE_NAME=shop\0POD_NAME=p\0OTEL_EXPORTER_OTLP_HEADERS=k=v\0"s, {});
  EXPECT_EQ(got, (Attributes{{"service.name", "shop"}}));
}

TEST(Environment, ListedVariablesAreExported) {
  const std::vector<std::string> listed = {"POD_NAME", "EMPTY"};
  const Attributes got = parse_environment("POD_NAME=p=1\0EMPTY=\0POD_NAMES=q\0"s, listed);
  EXPECT_EQ(got, (Attributes{{"process.environment_variable.POD_NAME", "p=1"}}));
}

TEST(Environment, ResourceAttributesAreTakenAll) {
  const Attributes got = parse_environment(
      "OTEL_SERVICE_NAME=named\0"
      "OTEL_RESOURCE_ATTRIBUTES=service.name=other, service.version = 1.2 ,team=a%2Cb,team=c%20d\0"s,
      {});
  EXPECT_EQ(got,
            (Attributes{{"service.name", "named"}, {"service.version", "1.2"}, {"team", "c d"}}));
}

TEST(Environment, AMalformedListIsDiscardedAsAWhole) {
  EXPECT_TRUE(parse_resource_attributes("a=1,b").empty());
  EXPECT_TRUE(parse_resource_attributes("a=1,b=%zz").empty());
  EXPECT_TRUE(parse_resource_attributes("a=1,b=%2").empty());
  EXPECT_TRUE(parse_resource_attributes("a=1,=2").empty());
  EXPECT_EQ(parse_resource_attributes("a=1,,").size(), 1U);
}

TEST(Environment, CommandLinesAreNeverTaken) {
  EXPECT_TRUE(parse_resource_attributes("process.command_line=rm%20-rf,process.command_args=x,"
                                        "process.environment_variable.SECRET=y,process.command=z")
                  .empty());
}

TEST(Environment, ACutLastVariableIsIgnored) {
  EXPECT_TRUE(parse_environment("OTEL_SERVICE_NAME=sho", {}).empty());
}

TEST(Environment, ThereIsALimit) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "k" + std::to_string(i) + "=v,";
  EXPECT_EQ(parse_resource_attributes(text).size(), kMaxOwnAttributes);
}

}  // namespace
}  // namespace vesta::agent
