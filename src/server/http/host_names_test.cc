#include "server/http/host_names.h"

#include <gtest/gtest.h>

namespace vesta::server {
namespace {

TEST(HostNamesTest, AddressesAndLocalhostAreNobodyElses) {
  const HostNames names(std::vector<std::string>{});
  for (const char* host :
       {"localhost", "localhost:4040", "LocalHost", "localhost.", "vesta.localhost:4040",
        "127.0.0.1", "127.0.0.1:4040", "10.1.2.3:80", "[::1]", "[::1]:4040", ""})
    EXPECT_TRUE(names.includes(host)) << host;
  for (const char* host :
       {"evil.example", "evil.example:4040", "localhost.evil.example", "notlocalhost", "::1",
        "localhost:x", "localhost@127.0.0.1", "127.0.0.1.evil.example", "1.2.3", "[::1", "[]", ":",
        "evil.example:4040:1", " ", "[evil.example]:4040", "localhost..", "*"})
    EXPECT_FALSE(names.includes(host)) << host;
}

TEST(HostNamesTest, OthersCanBeGiven) {
  const HostNames names(std::vector<std::string>{"Profiles.example"});
  EXPECT_TRUE(names.includes("profiles.example"));
  EXPECT_TRUE(names.includes("PROFILES.example:443"));
  EXPECT_FALSE(names.includes("a.profiles.example"));
  EXPECT_TRUE(HostNames(std::vector<std::string>{"*"}).includes("any.example"));
  EXPECT_TRUE(HostNames().includes("any.example"));
  EXPECT_TRUE(HostNames({"a.example"}, true).includes("any.example"));
}

TEST(HostNamesTest, KnowsItsListApartFromWhatItAnswersTo) {
  const HostNames names({"A.example", "*"}, true);
  EXPECT_TRUE(names.lists(*parse_authority("a.example:443")));
  EXPECT_FALSE(names.lists(*parse_authority("any.example")));
  EXPECT_FALSE(names.lists(*parse_authority("localhost")));
}

}  // namespace
}  // namespace vesta::server
