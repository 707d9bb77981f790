#include "server/rpc/connect.h"

#include <gtest/gtest.h>
#include <types/v1/types.pb.h>

namespace vesta::server {
namespace {

// Answers with what it was asked for: the name, then the matchers, then a header.
RpcMethod echo() {
  RpcMethod method;
  method.path = "/test.v1.Test/Echo";
  method.request_type = &types::v1::LabelValuesRequest::default_instance();
  method.response_type = &types::v1::Series::default_instance();
  method.handler = [](std::string_view bytes, const Caller& caller) -> Result<std::string> {
    types::v1::LabelValuesRequest request;
    if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return Error{ErrorCode::kInvalidInput, "no request", ""};
    }
    types::v1::Series series;
    auto* label = series.add_labels();
    label->set_name(request.name());
    label->set_value(std::string(caller.header("x-test")));
    series.add_points()->set_timestamp(request.start());
    return series.SerializeAsString();
  };
  return method;
}

RpcMethod failing(ErrorCode code) {
  RpcMethod method = echo();
  method.handler = [code](std::string_view, const Caller&) -> Result<std::string> {
    return Error{code, "it failed", "do better"};
  };
  return method;
}

HttpRequest post(std::string content_type, std::string body) {
  HttpRequest request;
  request.method = "POST";
  request.headers = {{"content-type", std::move(content_type)}};
  request.body = std::move(body);
  return request;
}

TEST(ConnectTest, AnswersProtobufWithProtobuf) {
  types::v1::LabelValuesRequest message;
  message.set_name("pod");
  message.set_start(7);
  HttpRequest request = post("application/proto", message.SerializeAsString());
  request.headers.emplace_back("x-test", "seen");
  const HttpResponse response = handle_connect(echo(), request, {});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/proto");
  types::v1::Series series;
  ASSERT_TRUE(series.ParseFromString(response.body));
  EXPECT_EQ(series.labels(0).name(), "pod");
  EXPECT_EQ(series.labels(0).value(), "seen");
  EXPECT_EQ(series.points(0).timestamp(), 7);
}

TEST(ConnectTest, AnswersJsonWithJson) {
  for (const char* body :
       {R"({"name":"pod","start":"7","unknown":{"a":[1]}})", R"({"name":"pod","start":7})"}) {
    const HttpResponse response =
        handle_connect(echo(), post("application/json; charset=utf-8", body), {});
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.content_type, "application/json");
    EXPECT_EQ(response.body, R"({"labels":[{"name":"pod"}],"points":[{"timestamp":"7"}]})");
  }
}

TEST(ConnectTest, TakesAnEmptyMessageAsProtobufButNotAsJson) {
  EXPECT_EQ(handle_connect(echo(), post("application/proto", ""), {}).status, 200);
  const HttpResponse response = handle_connect(echo(), post("application/json", ""), {});
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find(R"("code":"invalid_argument")"), std::string::npos);
}

TEST(ConnectTest, TakesPostOnly) {
  HttpRequest request = post("application/proto", "");
  request.method = "GET";
  const HttpResponse response = handle_connect(echo(), request, {});
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.headers, (Fields{{"Allow", "POST"}}));
}

TEST(ConnectTest, RefusesOtherContentTypes) {
  for (const char* type : {"", "text/plain", "application/grpc", "application/connect+proto",
                           "application/protobuf", "application/jsonx"}) {
    EXPECT_EQ(handle_connect(echo(), post(type, "{}"), {}).status, 415) << type;
  }
  RpcMethod without_json = echo();
  without_json.request_type = nullptr;
  EXPECT_EQ(handle_connect(without_json, post("application/json", "{}"), {}).status, 415);
}

TEST(ConnectTest, SaysWhatIsWrongInTheProtocolsWords) {
  const auto status = [](ErrorCode code) {
    return handle_connect(failing(code), post("application/proto", ""), {}).status;
  };
  EXPECT_EQ(status(ErrorCode::kInvalidInput), 400);
  EXPECT_EQ(status(ErrorCode::kUsage), 400);
  EXPECT_EQ(status(ErrorCode::kUnauthenticated), 401);
  EXPECT_EQ(status(ErrorCode::kPermission), 403);
  EXPECT_EQ(status(ErrorCode::kNotFound), 404);
  EXPECT_EQ(status(ErrorCode::kTooMany), 429);
  EXPECT_EQ(status(ErrorCode::kIo), 500);
  EXPECT_EQ(status(ErrorCode::kUnsupported), 501);
  EXPECT_EQ(status(ErrorCode::kUnavailable), 503);
  // Errors are JSON, whatever the request was.
  const HttpResponse response =
      handle_connect(failing(ErrorCode::kUsage), post("application/proto", ""), {});
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body, R"({"code":"invalid_argument","message":"it failed; do better"})");
}

TEST(ConnectTest, RefusesBadJson) {
  std::string deep = R"({"x":)";
  for (int at = 0; at < 100'000; ++at) deep += '[';
  for (const std::string& body :
       {std::string("{"), std::string("[]"), std::string("nonsense"), deep,
        std::string(R"({"start":"x"})"), std::string("{\"name\":\"\xFF\"}"),
        std::string(R"({"start":1e30})"), std::string("\0\0", 2)}) {
    EXPECT_EQ(handle_connect(echo(), post("application/json", body), {}).status, 400)
        << body.substr(0, 40);
  }
  const std::string huge(kMaxConnectJsonBytes + 1, ' ');
  EXPECT_EQ(handle_connect(echo(), post("application/json", huge), {}).status, 413);
}

TEST(ConnectTest, ChecksTheVersion) {
  HttpRequest request = post("application/proto", "");
  request.headers.emplace_back("connect-protocol-version", "1");
  EXPECT_EQ(handle_connect(echo(), request, {}).status, 200);
  request.headers.back().second = "2";
  EXPECT_EQ(handle_connect(echo(), request, {}).status, 400);
}

TEST(ConnectTest, HandsTheDeadlineOn) {
  RpcMethod method = echo();
  auto seen = std::chrono::steady_clock::time_point::max();
  method.handler = [&seen](std::string_view, const Caller& caller) -> Result<std::string> {
    seen = caller.deadline;
    return Error{ErrorCode::kLimit, "out of time", ""};
  };
  HttpRequest request = post("application/proto", "");
  EXPECT_EQ(handle_connect(method, request, {}).status, 413);
  EXPECT_EQ(seen, std::chrono::steady_clock::time_point::max());
  request.headers.emplace_back("connect-timeout-ms", "0");
  const HttpResponse response = handle_connect(method, request, {});
  EXPECT_EQ(response.status, 504);
  EXPECT_NE(response.body.find(R"("code":"deadline_exceeded")"), std::string::npos);
  EXPECT_LE(seen, std::chrono::steady_clock::now());
  for (const char* bad : {"soon", "-1", "12345678901", "1 "}) {
    request.headers.back().second = bad;
    EXPECT_EQ(handle_connect(method, request, {}).status, 400) << bad;
  }
}

}  // namespace
}  // namespace vesta::server
