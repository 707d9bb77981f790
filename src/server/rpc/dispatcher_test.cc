#include "server/rpc/dispatcher.h"

#include <gtest/gtest.h>

namespace vesta::server {
namespace {

class DispatcherTest : public ::testing::Test {
 protected:
  DispatcherTest() {
    const auto ok = [](const HttpRequest&, const Caller&) { return json_response("{}"); };
    routes_.add(HttpRoute{"GET", "/read", Scope::kRead, ok});
    routes_.add(HttpRoute{"GET", "/open", Scope::kNone, ok});
    routes_.add(HttpRoute{"GET", "/healthz", Scope::kNone, ok});
    routes_.add(HttpRoute{"POST", "/admin", Scope::kAdmin, ok});
  }
  Dispatcher make(HostNames names) {
    return {routes_,
            [](const Credentials& credentials, Scope scope) -> Result<Caller> {
              if (credentials.authorization == "reader" && scope == Scope::kAdmin)
                return Error{ErrorCode::kPermission, "may read", {}};
              Caller caller;
              caller.token = credentials.authorization;
              return caller;
            },
            [this](const RequestRecord& record) { targets_.emplace_back(record.target); },
            {},
            std::move(names)};
  }
  static int status(const Dispatcher& dispatcher, const std::string& word,
                    const std::string& host) {
    HttpRequest head;
    head.method = "GET";
    head.path = "/" + word;
    head.headers = {{"host", host}};
    const auto admitted = dispatcher.admit(head, {word}, "1.2.3.4", {});
    const auto* refusal = std::get_if<Dispatcher::Refusal>(&admitted);
    return refusal != nullptr ? refusal->response.status : 200;
  }

  Routes routes_;
  std::vector<std::string> targets_;
};

TEST_F(DispatcherTest, OnlyHealthChecksAnswerToForeignNames) {
  const Dispatcher dispatcher = make(HostNames(std::vector<std::string>{}));
  for (const char* word : {"read", "open", "healthz"})
    EXPECT_EQ(status(dispatcher, word, "localhost:4040"), 200) << word;
  EXPECT_EQ(status(dispatcher, "read", "evil.example"), 403);
  EXPECT_EQ(status(dispatcher, "open", "evil.example"), 403);
  EXPECT_EQ(status(dispatcher, "healthz", "evil.example"), 200);
}

TEST_F(DispatcherTest, RefusalsSayWhoseTokenItWas) {
  const Dispatcher dispatcher = make({});
  HttpRequest head;
  head.method = "POST";
  head.path = "/admin";
  head.headers = {{"host", "a"}, {"authorization", "reader"}};
  const auto admitted = dispatcher.admit(head, {"admin"}, "1.2.3.4", {});
  const auto* refusal = std::get_if<Dispatcher::Refusal>(&admitted);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->response.status, 403);
  EXPECT_EQ(refusal->caller.token, "reader");
}

TEST_F(DispatcherTest, ObserversSeeNoSecrets) {
  const Dispatcher dispatcher = make({});
  RequestRecord record;
  record.target = "/a?x=1&token=hunter2&y=2";
  dispatcher.observe(record);
  ASSERT_EQ(targets_.size(), 1U);
  EXPECT_EQ(targets_[0], "/a?x=1&token=...&y=2");
}

}  // namespace
}  // namespace vesta::server
