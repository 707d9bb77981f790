#include "server/rpc/connect_get.h"

#include <gtest/gtest.h>

#include "formats/common/compression.h"
#include "formats/otlp/base64.h"
#include "server/rpc/dispatcher.h"

namespace vesta::server {
namespace {

class ConnectGetTest : public ::testing::Test {
 protected:
  Result<std::string> body_of(Fields query) {
    request_ = {};
    request_.method = "GET";
    request_.headers = {{"content-type", "text/html"}};
    request_.query = std::move(query);
    MemoryBudget::Lease lease(budget_);
    VESTA_TRY(take_connect_get(request_, 1 << 20, lease));
    return request_.body;
  }
  MemoryBudget budget_{64 << 20};
  HttpRequest request_;
};

TEST_F(ConnectGetTest, IsThePostThatMeansTheSame) {
  EXPECT_EQ(*body_of({{"connect", "v1"}, {"encoding", "json"}, {"message", "{}"}}), "{}");
  EXPECT_EQ(request_.method, "POST");
  EXPECT_EQ(request_.header("content-type"), "application/json");
  EXPECT_EQ(*body_of({{"encoding", "proto"}, {"message", ""}}), "");
  EXPECT_EQ(request_.header("content-type"), "application/proto");
}

TEST_F(ConnectGetTest, AGetWithoutAMessageIsNone) {
  HttpRequest request;
  request.method = "GET";
  request.query = {{"q", "1"}};
  EXPECT_FALSE(is_connect_get(request));
  request.query = {{"encoding", "json"}};
  EXPECT_TRUE(is_connect_get(request));
  request.method = "POST";
  EXPECT_FALSE(is_connect_get(request));
}

TEST_F(ConnectGetTest, MessageMayBePackedAndInBase64) {
  const std::string message(3000, 'm');
  EXPECT_EQ(*body_of({{"encoding", "proto"},
                      {"base64", "1"},
                      {"compression", "gzip"},
                      {"message", otlp::to_base64(gzip(message, 1))}}),
            message);
  // URL-safe, without padding.
  EXPECT_EQ(*body_of({{"encoding", "proto"}, {"base64", "1"}, {"message", "-_8"}}), "\xfb\xff");
}

TEST_F(ConnectGetTest, SaysWhichParameterIsWrong) {
  const auto problem = [&](Fields query) { return body_of(std::move(query)).error().message; };
  EXPECT_EQ(problem({{"connect", "v2"}, {"encoding", "json"}, {"message", "{}"}}),
            "the parameter 'connect' must be v1");
  EXPECT_EQ(problem({{"message", "{}"}}), "the parameter 'encoding' is missing");
  EXPECT_EQ(problem({{"encoding", "xml"}, {"message", "{}"}}), "unknown encoding 'xml'");
  EXPECT_EQ(problem({{"encoding", "json"}}), "the parameter 'message' is missing");
  EXPECT_EQ(problem({{"encoding", "json"}, {"base64", "1"}, {"message", "{}"}}),
            "the parameter 'message' is not base64");
  EXPECT_EQ(problem({{"encoding", "json"}, {"compression", "br"}, {"message", "{}"}}),
            "unknown compression 'br'");
}

TEST_F(ConnectGetTest, BombsAreBounded) {
  const auto result = body_of({{"encoding", "proto"},
                               {"base64", "1"},
                               {"compression", "gzip"},
                               {"message", otlp::to_base64(gzip(std::string(2 << 20, 'b'), 9))}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kLimit);
  EXPECT_EQ(budget_.used(), 0u);
}

}  // namespace
}  // namespace vesta::server
