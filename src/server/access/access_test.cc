#include "server/access/access.h"

#include <gtest/gtest.h>

#include "formats/otlp/base64.h"
#include "testing/temporary_folder.h"

namespace vesta::server {
namespace {

class AccessTest : public ::testing::Test {
 protected:
  std::string create(Scope scope, int64_t expires_ns = 0) {
    return (*store_)->create("t", "team-a", scope, expires_ns)->text;
  }
  // The tenant, or the word of the error.
  std::string admit(AccessRules rules, const std::string& authorization, Scope scope,
                    std::string_view org_id = {}) {
    const Access access(**store_, rules, [] { return UnixNs(1000); });
    const auto caller = access.admit({authorization, org_id, "1.2.3.4"}, scope);
    return caller ? caller->tenant : std::string(connect_code_of(caller.error().code));
  }

  TemporaryFolder folder_;
  Result<std::unique_ptr<TokenStore>> store_ = TokenStore::open(folder_.path("tokens.json"));
  const AccessRules closed_{.tokens_required = true, .multi_tenant = false};
  const AccessRules open_{};
  const AccessRules tenants_{.tokens_required = false, .multi_tenant = true};
};

TEST_F(AccessTest, ScopesDecide) {
  const std::string read = "Bearer " + create(Scope::kRead);
  const std::string write = "Bearer " + create(Scope::kWrite);
  const std::string admin = "Bearer " + create(Scope::kAdmin);
  EXPECT_EQ(admit(closed_, read, Scope::kRead), "team-a");
  EXPECT_EQ(admit(closed_, read, Scope::kWrite), "permission_denied");
  EXPECT_EQ(admit(closed_, read, Scope::kAdmin), "permission_denied");
  EXPECT_EQ(admit(closed_, write, Scope::kRead), "permission_denied");
  EXPECT_EQ(admit(closed_, write, Scope::kWrite), "team-a");
  EXPECT_EQ(admit(closed_, admin, Scope::kRead), "team-a");
  EXPECT_EQ(admit(closed_, admin, Scope::kWrite), "team-a");
  EXPECT_EQ(admit(closed_, admin, Scope::kAdmin), "team-a");
}

TEST_F(AccessTest, TellsWhatATokenMayDo) {
  const auto scopes = [&](const std::string& authorization) {
    const Access access(**store_, open_);
    return access.admit({authorization, {}, "1.2.3.4"}, Scope::kRead)->scopes;
  };
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(scopes("Bearer " + create(Scope::kRead)), Words{"read"});
  EXPECT_EQ(scopes("Bearer " + create(Scope::kAdmin)), (Words{"read", "write", "admin"}));
  EXPECT_EQ(scopes(""), Words());
}

TEST_F(AccessTest, WithoutAKnownTokenNobodyGetsIn) {
  (void)create(Scope::kAdmin);
  for (const std::string authorization :
       {"", "Bearer", "Bearer ", "Bearer vesta_wrong", "Basic", "Basic !!!", "Digest x",
        "Basic dXNlcjp2ZXN0YV93cm9uZw=="}) {
    EXPECT_EQ(admit(closed_, authorization, Scope::kRead), "unauthenticated") << authorization;
    EXPECT_EQ(admit(closed_, authorization, Scope::kNone), "anonymous") << authorization;
  }
}

TEST_F(AccessTest, TokensMayComeAsBasicPassword) {
  const std::string token = create(Scope::kWrite);
  // What SDKs send: any user name, the token as password.
  const std::string encoded = otlp::to_base64("user:" + token);
  EXPECT_EQ(admit(closed_, "Basic " + encoded, Scope::kWrite), "team-a");
}

TEST_F(AccessTest, ExpiredTokensAreNone) {
  EXPECT_EQ(admit(closed_, "Bearer " + create(Scope::kRead, 1000), Scope::kRead),
            "unauthenticated");
  EXPECT_EQ(admit(closed_, "Bearer " + create(Scope::kRead, 1001), Scope::kRead), "team-a");
}

TEST_F(AccessTest, OnLoopbackEverybodyIsAnonymous) {
  EXPECT_EQ(admit(open_, "", Scope::kAdmin), "anonymous");
  EXPECT_EQ(admit(open_, "", Scope::kRead, "team-b"), "anonymous");
  EXPECT_EQ(admit(open_, "Basic Zm9vOmJhcg==", Scope::kWrite), "anonymous");
  // A token still says who one is, and a revoked one is not quietly someone else.
  EXPECT_EQ(admit(open_, "Bearer " + create(Scope::kRead), Scope::kRead), "team-a");
  EXPECT_EQ(admit(open_, "Bearer vesta_revoked", Scope::kRead), "unauthenticated");
}

TEST_F(AccessTest, TheHeaderNamesTheTenantWhenTenantsAreOn) {
  EXPECT_EQ(admit(tenants_, "", Scope::kWrite, "team-b"), "team-b");
  EXPECT_EQ(admit(tenants_, "", Scope::kRead), "unauthenticated");
  EXPECT_EQ(admit(tenants_, "", Scope::kRead, "a|b"), "invalid_argument");
  EXPECT_EQ(admit(tenants_, "", Scope::kRead, ".."), "invalid_argument");
  const std::string token = "Bearer " + create(Scope::kRead);
  EXPECT_EQ(admit(tenants_, token, Scope::kRead), "team-a");
  EXPECT_EQ(admit(tenants_, token, Scope::kRead, "team-a"), "team-a");
  EXPECT_EQ(admit(tenants_, token, Scope::kRead, "team-b"), "permission_denied");
}

}  // namespace
}  // namespace vesta::server
