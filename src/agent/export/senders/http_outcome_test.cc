#include "agent/export/senders/http_outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time.h"
#include "formats/protobuf/wire.h"

namespace vesta::agent {
namespace {

using Kind = SendOutcome::Kind;
constexpr UnixNs kNow(784'111'777 * kSecond);  // Sun, 06 Nov 1994 08:49:37 GMT

HttpAnswer answer(int status, std::string body = {},
                  std::vector<std::pair<std::string, std::string>> headers = {}) {
  return {status, std::move(body), std::move(headers)};
}

TEST(HttpOutcome, RetryAfterIsSecondsOrADate) {
  EXPECT_EQ(parse_retry_after("120", kNow), 120 * kSecond);
  EXPECT_EQ(parse_retry_after("0", kNow), 0);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:50:37 GMT", kNow), 60 * kSecond);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:48:37 GMT", kNow), 0) << "in the past";
  for (const char* bad :
       {"", "soon", "-1", "1.5", "Sun, 06 Nov 1994", "Sun, 99 Nov 1994 08:49:37 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 28:49:37 GMT"})
    EXPECT_FALSE(parse_retry_after(bad, kNow).has_value()) << bad;
  EXPECT_LE(*parse_retry_after("9223372036854775807", kNow), 366 * 86400 * kSecond);
}

TEST(HttpOutcome, StatusesMeanWhatTheyShould) {
  EXPECT_EQ(outcome_of(Error{ErrorCode::kIo, "refused", ""}, kNow).kind, Kind::kRetry);
  EXPECT_EQ(outcome_of(answer(200), kNow).kind, Kind::kSent);
  EXPECT_EQ(outcome_of(answer(202), kNow).kind, Kind::kSent);
  for (const int status : {301, 408, 429, 500, 501, 502, 503, 504, 599, 100, 0})
    EXPECT_EQ(outcome_of(answer(status), kNow).kind, Kind::kRetry) << status;
  for (const int status : {400, 401, 403, 404, 405, 415, 422})
    EXPECT_EQ(outcome_of(answer(status), kNow).kind, Kind::kRejected) << status;
  EXPECT_EQ(outcome_of(answer(413), kNow).kind, Kind::kTooLarge);
}

TEST(HttpOutcome, RetryAfterGoesByTheSendersClock) {
  EXPECT_EQ(outcome_of(answer(503, "", {{"retry-after", "7"}}), kNow).retry_after_ns, 7 * kSecond);
  EXPECT_EQ(outcome_of(answer(503), kNow).retry_after_ns, -1);
  const auto skewed = answer(429, "",
                             {{"retry-after", "Sun, 06 Nov 1994 08:50:37 GMT"},
                              {"date", "Sun, 06 Nov 1994 08:50:27 GMT"}});
  EXPECT_EQ(outcome_of(skewed, UnixNs()).retry_after_ns, 10 * kSecond);
}

TEST(HttpOutcome, TellsWhatTheOtherSideSaid) {
  EXPECT_EQ(outcome_of(answer(400, R"({"code":"invalid_argument","message":"no\nlabels"})",
                              {{"content-type", "application/json"}}),
                       kNow)
                .reason,
            "HTTP 400: no labels");
  WireWriter status;
  status.uint64(1, 3);
  status.bytes(2, "bad index");
  EXPECT_EQ(refusal_text(answer(400, status.take(), {{"content-type", "application/x-protobuf"}})),
            "bad index");
  EXPECT_EQ(refusal_text(answer(400, "plain words\n", {{"content-type", "text/plain"}})),
            "plain words");
  EXPECT_EQ(refusal_text(answer(502, "<html>…", {{"content-type", "text/html"}})), "");
  EXPECT_EQ(refusal_text(answer(400, "\xFF\xFE", {{"content-type", "application/json"}})), "");
  EXPECT_LE(refusal_text(answer(400, std::string(10'000, 'x'))).size(), 200U);
}

TEST(HttpOutcome, ReadsPartialSuccess) {
  WireWriter partial;
  partial.uint64(1, 3);
  partial.bytes(2, "too old");
  WireWriter response;
  response.message(1, partial);
  const auto parsed = parse_otlp_response(response.view(), false);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->rejected, 3U);
  EXPECT_EQ(parsed->message, "too old");
  EXPECT_EQ(parse_otlp_response("", false)->rejected, 0U);
  const auto json = parse_otlp_response(
      R"({"partialSuccess":{"rejectedProfiles":"3","errorMessage":"too old"}})", true);
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(json->rejected, 3U);
  EXPECT_EQ(json->message, "too old");
  EXPECT_EQ(parse_otlp_response("{}", true)->rejected, 0U);
  EXPECT_FALSE(parse_otlp_response("OK", false).has_value());
  EXPECT_FALSE(parse_otlp_response("\x0A\xFF", false).has_value());
  EXPECT_FALSE(parse_otlp_response("<html>", true).has_value());
}

TEST(HttpOutcome, ReadsRetryInfo) {
  WireWriter duration;
  duration.uint64(1, 2);
  duration.uint64(2, 500'000'000);
  WireWriter info;
  info.message(1, duration);
  WireWriter any;
  any.bytes(1, "type.googleapis.com/google.rpc.RetryInfo");
  any.bytes(2, info.take());
  WireWriter status;
  status.message(3, any);
  EXPECT_EQ(retry_delay_of(status.view()), 2'500'000'000);
  EXPECT_FALSE(retry_delay_of("").has_value());
  EXPECT_FALSE(retry_delay_of("garbage").has_value());
}

}  // namespace
}  // namespace vesta::agent
