#include "server/grpc/grpc_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/common/compression.h"
#include "formats/otlp/base64.h"
#include "server/grpc/grpc_status.h"
#include "server/rpc/dispatcher.h"

namespace vesta::server {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string framed(std::string_view message, char flags = 0) {
  std::string out(1, flags);
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(message.size() >> shift);
  return out + std::string(message);
}

Fields trailers_of(const HttpResponse& response) {
  Fields trailers;
  for (const auto& [name, value] : response.headers) {
    if (name.starts_with(kTrailerPrefix)) {
      trailers.emplace_back(name.substr(kTrailerPrefix.size()), value);
    }
  }
  return trailers;
}

class GrpcProtocolTest : public ::testing::Test {
 protected:
  GrpcProtocolTest() {
    method_.path = "/test.Service/Call";
    method_.handler = [this](std::string_view request, const Caller& caller) {
      seen_ = request;
      deadline_ = caller.deadline;
      return answer_;
    };
    request_.method = "POST";
  }
  HttpResponse call(std::string_view type, std::string body) {
    request_.headers.emplace_back("content-type", type);
    if (is_http2_) request_.headers.emplace_back(":scheme", "http");
    request_.body = std::move(body);
    MemoryBudget::Lease lease(budget_);
    return handle_grpc(*grpc_type_of(type), method_, request_, Caller(), 1 << 20, lease);
  }

  MemoryBudget budget_{64 << 20};
  RpcMethod method_;
  bool is_http2_ = true;
  HttpRequest request_;
  std::string seen_;
  std::chrono::steady_clock::time_point deadline_;
  Result<std::string> answer_ = std::string("answer");
};

TEST(GrpcTypeTest, KnowsTheFormsOfTheProtocol) {
  EXPECT_EQ(grpc_type_of("application/grpc")->form, GrpcForm::kGrpc);
  EXPECT_EQ(grpc_type_of("application/grpc+proto; charset=x")->form, GrpcForm::kGrpc);
  EXPECT_EQ(grpc_type_of("application/grpc+json")->codec, RpcCodec::kJson);
  EXPECT_EQ(grpc_type_of("application/grpc-web+proto")->form, GrpcForm::kWeb);
  EXPECT_EQ(grpc_type_of("Application/gRPC-Web-Text")->form, GrpcForm::kWebText);
  EXPECT_FALSE(grpc_type_of("application/grpc+thrift").has_value());
  EXPECT_FALSE(grpc_type_of("application/grpcx").has_value());
  EXPECT_FALSE(grpc_type_of("application/proto").has_value());
  EXPECT_FALSE(grpc_type_of("").has_value());
}

TEST_F(GrpcProtocolTest, AnswersAMessageWithAMessageAndTrailers) {
  const HttpResponse response = call("application/grpc", framed("question"));
  EXPECT_EQ(seen_, "question");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/grpc+proto");
  EXPECT_EQ(response.body, framed("answer"));
  EXPECT_THAT(trailers_of(response), ElementsAre(Pair("grpc-status", "0")));
  EXPECT_FALSE(response.compressible);
}

TEST_F(GrpcProtocolTest, TakesAndSendsGzip) {
  answer_ = std::string(10'000, 'a');
  request_.headers = {{"grpc-encoding", "gzip"}, {"grpc-accept-encoding", "identity, gzip"}};
  const HttpResponse response =
      call("application/grpc", framed(gzip(std::string(5'000, 'q'), 1), 1));
  EXPECT_EQ(seen_, std::string(5'000, 'q'));
  EXPECT_THAT(response.headers, Contains(Pair("grpc-encoding", "gzip")));
  ASSERT_GT(response.body.size(), 5u);
  EXPECT_EQ(response.body[0], 1);
  EXPECT_EQ(*gunzip(response.body.substr(5), 1 << 20), std::string(10'000, 'a'));
}

TEST_F(GrpcProtocolTest, FailuresAreStatuses) {
  answer_ = Error{ErrorCode::kNotFound, "100% gone \xC3\xBC", "look elsewhere"};
  const HttpResponse response = call("application/grpc", framed("q"));
  EXPECT_EQ(response.status, 404);
  EXPECT_THAT(response.body, IsEmpty());
  EXPECT_THAT(trailers_of(response),
              ElementsAre(Pair("grpc-status", "5"),
                          Pair("grpc-message", "100%25 gone %C3%BC; look elsewhere")));
  EXPECT_EQ(sent_status(response), 200);
}

TEST_F(GrpcProtocolTest, BusyServersSayWhenToComeBack) {
  answer_ = Error{ErrorCode::kTooMany, "busy", {}};
  const HttpResponse response = call("application/grpc", framed("q"));
  ASSERT_EQ(trailers_of(response).size(), 3u);
  EXPECT_EQ(trailers_of(response)[2].first, "grpc-status-details-bin");
  EXPECT_THAT(*otlp::from_base64(trailers_of(response)[2].second),
              HasSubstr("google.rpc.RetryInfo"));
}

TEST_F(GrpcProtocolTest, WebHasTheTrailersInTheBody) {
  is_http2_ = false;
  const std::string trailers = framed("grpc-status: 0\r\n", static_cast<char>(0x80));
  EXPECT_EQ(call("application/grpc-web+proto", framed("q")).body, framed("answer") + trailers);
  request_.headers.clear();
  // Two pieces, each padded.
  const std::string text =
      otlp::to_base64(framed("q").substr(0, 4)) + otlp::to_base64(framed("q").substr(4));
  const HttpResponse response = call("application/grpc-web-text", text);
  EXPECT_EQ(seen_, "q");
  EXPECT_EQ(*otlp::from_base64(response.body), framed("answer") + trailers);
  EXPECT_THAT(trailers_of(response), IsEmpty());
}

TEST_F(GrpcProtocolTest, RefusesWhatIsNotOneMessage) {
  const auto status_of = [&](std::string body) {
    request_.headers.clear();
    return trailers_of(call("application/grpc", std::move(body))).front().second;
  };
  seen_ = "not called";
  EXPECT_EQ(status_of(""), "3");
  EXPECT_EQ(status_of("abc"), "3");
  EXPECT_EQ(status_of(framed("long").substr(0, 7)), "3");
  EXPECT_EQ(status_of(std::string("\0\xff\xff\xff\xff", 5)), "3");
  EXPECT_EQ(status_of(framed("q") + framed("q")), "12");
  EXPECT_EQ(status_of(framed("q", 2)), "3");
  EXPECT_EQ(status_of(framed("q", 1)), "3");  // no coding
  request_.headers = {{"grpc-encoding", "snappy"}};
  EXPECT_EQ(trailers_of(call("application/grpc", framed("q", 1))).front().second, "12");
  request_.headers = {{"grpc-encoding", "gzip"}};
  EXPECT_EQ(trailers_of(call("application/grpc", framed("q", 1))).front().second, "3");
  // A bomb.
  request_.headers = {{"grpc-encoding", "gzip"}};
  EXPECT_EQ(trailers_of(call("application/grpc", framed(gzip(std::string(2 << 20, 'b'), 1), 1)))
                .front()
                .second,
            "8");
  EXPECT_EQ(seen_, "not called");
  EXPECT_EQ(budget_.used(), 0u);
}

TEST_F(GrpcProtocolTest, TimeoutIsTheHandlersDeadline) {
  request_.headers = {{"grpc-timeout", "5S"}};
  const auto before = std::chrono::steady_clock::now();
  call("application/grpc", framed("q"));
  EXPECT_GE(deadline_, before + std::chrono::seconds(5));
  EXPECT_LE(deadline_, std::chrono::steady_clock::now() + std::chrono::seconds(5));
  request_.headers = {{"grpc-timeout", "99999999H"}};
  call("application/grpc", framed("q"));
  EXPECT_EQ(deadline_, std::chrono::steady_clock::time_point::max());
  for (const char* bad : {"S", "5", "-5S", "5X", "123456789S", "1.5S"}) {
    request_.headers = {{"grpc-timeout", bad}};
    EXPECT_EQ(trailers_of(call("application/grpc", framed("q"))).front().second, "3") << bad;
  }
  answer_ = Error{ErrorCode::kLimit, "gave up", {}};
  request_.headers = {{"grpc-timeout", "1n"}};
  EXPECT_EQ(trailers_of(call("application/grpc", framed("q"))).front().second, "4");
}

TEST_F(GrpcProtocolTest, GrpcNeedsTrailers) {
  is_http2_ = false;
  EXPECT_EQ(call("application/grpc", framed("q")).status, 415);
}

TEST(GrpcFailureTest, TellsClientsOfGrpcWhatHttpSays) {
  const auto status_of = [](const HttpResponse& response) {
    return trailers_of(grpc_failure({}, response)).front().second;
  };
  EXPECT_EQ(status_of(error_response({ErrorCode::kUnauthenticated, "who", {}})), "16");
  EXPECT_EQ(status_of(error_response({ErrorCode::kNotFound, "there is no /x", {}})), "12");
  EXPECT_EQ(status_of(error_response({ErrorCode::kLimit, "large", {}}, 431)), "8");
  EXPECT_EQ(grpc_failure({}, error_response({ErrorCode::kUnauthenticated, "who", {}})).status, 401);
  HttpResponse bare;
  bare.status = 500;
  EXPECT_EQ(status_of(bare), "2");
}

}  // namespace
}  // namespace vesta::server
