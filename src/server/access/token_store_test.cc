#include "server/access/token_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "testing/temporary_folder.h"

namespace vesta::server {
namespace {

using ::testing::HasSubstr;

std::string contents(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

TEST(TokenStore, FindsWhatItCreated) {
  const TemporaryFolder folder;
  auto store = TokenStore::open(folder.path("tokens.json"));
  ASSERT_TRUE(store.ok());
  EXPECT_TRUE((*store)->empty());
  const auto created = (*store)->create("ci", "team-a", Scope::kWrite, 0);
  ASSERT_TRUE(created.ok()) << created.error().message;
  EXPECT_TRUE(created->text.starts_with("vesta_"));
  EXPECT_EQ(created->text.size(), 6U + 43U);
  const auto found = (*store)->find(created->text);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "ci");
  EXPECT_EQ(found->tenant, "team-a");
  EXPECT_EQ(found->scope, Scope::kWrite);
  EXPECT_FALSE((*store)->find(created->text + "x"));
  EXPECT_FALSE((*store)->find(""));
}

TEST(TokenStore, KeepsOnlyTheHashInAPrivateFile) {
  const TemporaryFolder folder;
  auto store = TokenStore::open(folder.path("tokens.json"));
  const auto created = (*store)->create("", "a", Scope::kAdmin, 0);
  const std::string text = contents(folder.path("tokens.json"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr(created->text.substr(6, 20))));
  EXPECT_THAT(text, HasSubstr(hex(hash_token(created->text))));
  struct stat info {};
  ASSERT_EQ(::stat(folder.path("tokens.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST(TokenStore, SeesWhatAnotherProcessDoes) {
  const TemporaryFolder folder;
  auto server = TokenStore::open(folder.path("tokens.json"));
  auto tool = TokenStore::open(folder.path("tokens.json"));
  const auto created = (*tool)->create("x", "a", Scope::kRead, 0);
  EXPECT_FALSE((*server)->find(created->text));
  EXPECT_TRUE((*server)->reload_if_changed().ok());
  EXPECT_TRUE((*server)->find(created->text));
  EXPECT_TRUE((*tool)->revoke("x").ok());
  EXPECT_TRUE((*server)->reload_if_changed().ok());
  EXPECT_FALSE((*server)->find(created->text));
}

TEST(TokenStore, ADamagedFileLeavesTokensAsTheyWere) {
  const TemporaryFolder folder;
  auto store = TokenStore::open(folder.path("tokens.json"));
  const auto created = (*store)->create("x", "a", Scope::kRead, 0);
  for (const std::string text :
       {"", "{", "[]", "{\"version\":2,\"tokens\":[]}", "{\"version\":1}",
        "{\"version\":1,\"tokens\":[1]}", "{\"version\":1,\"tokens\":[{\"tenant\":\"a\"}]}",
        "{\"version\":1,\"tokens\":[{\"tenant\":\"a|b\",\"scope\":\"read\",\"sha256\":\"00\"}]}"}) {
    std::ofstream(folder.path("tokens.json")) << text;
    EXPECT_FALSE((*store)->reload_if_changed().ok()) << text;
    EXPECT_TRUE((*store)->find(created->text)) << text;
  }
  EXPECT_FALSE(TokenStore::open(folder.path("tokens.json")).ok());
}

TEST(TokenStore, RevokesByNameOrId) {
  const TemporaryFolder folder;
  auto store = TokenStore::open(folder.path("tokens.json"));
  (void)(*store)->create("twin", "a", Scope::kRead, 0);
  const auto second = (*store)->create("twin", "b", Scope::kRead, 0);
  EXPECT_EQ((*store)->revoke("twin").error().code, ErrorCode::kUsage);
  EXPECT_EQ((*store)->revoke("nobody").error().code, ErrorCode::kNotFound);
  EXPECT_EQ((*store)->revoke(second->info.id.substr(0, 8))->tenant, "b");
  EXPECT_EQ((*store)->list().size(), 1U);
}

TEST(TenantId, FollowsTheRulesOfPyroscope) {
  EXPECT_TRUE(check_tenant_id(std::string(150, 'x')).ok());
  for (const std::string good : {"a", "team-1", "A!-_.*'()9", "..."}) {
    EXPECT_TRUE(check_tenant_id(good).ok()) << good;
  }
  for (const std::string bad : {"", ".", "..", "a|b", "a/b", "a b", "\xC3\xA4", "a\n"}) {
    EXPECT_FALSE(check_tenant_id(bad).ok()) << bad;
  }
  EXPECT_FALSE(check_tenant_id(std::string(151, 'x')).ok());
}

}  // namespace
}  // namespace vesta::server
