#include "agent/export/senders/http_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "base/json_reader.h"
#include "base/time.h"
#include "base/utf8.h"
#include "formats/protobuf/wire.h"

namespace vesta::agent {
namespace {

constexpr int64_t kMaxDelaySeconds = int64_t{366} * 24 * 3600;
constexpr size_t kMaxTextBytes = 160;

template <class T>
bool parse_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// "Sun, 06 Nov 1994 08:49:37 GMT", the one form of date that HTTP senders may write.
std::optional<UnixNs> parse_http_date(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kMonths = {
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || text.substr(25) != " GMT") return std::nullopt;
  const auto month = std::ranges::find(kMonths, text.substr(8, 3));
  unsigned day = 0;
  int year = 0;
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  const bool ok =
      month != kMonths.end() && parse_number(text.substr(5, 2), day) &&
      parse_number(text.substr(12, 4), year) && parse_number(text.substr(17, 2), hour) &&
      parse_number(text.substr(20, 2), minute) && parse_number(text.substr(23, 2), second);
  if (!ok || year < 1970 || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const std::chrono::year_month_day date(
      std::chrono::year(year),
      std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
      std::chrono::day(day));
  if (!date.ok() || year > 2200) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return UnixNs(days * kDay + hour * kHour + minute * kMinute + second * kSecond);
}

bool is_json(const HttpAnswer& answer) {
  return answer.header("content-type").find("json") != std::string_view::npos;
}

std::string one_line(std::string_view text) {
  std::string out = replace_invalid_utf8(text.substr(0, kMaxTextBytes));
  for (char& c : out) {
    if (static_cast<uint8_t>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string json_message(std::string_view body) {
  const auto tree = JsonTree::parse(body);
  return tree ? std::string(tree->root()["message"].text().value_or("")) : std::string();
}

// The second field of google.rpc.Status.
std::string status_message(std::string_view body) {
  WireReader status(body);
  std::string message;
  while (status.next()) {
    if (status.is(2, WireType::kBytes)) {
      message = status.bytes();
    } else {
      status.skip();
    }
  }
  return status.ok() ? message : std::string();
}

std::optional<int64_t> retry_after_of(const HttpAnswer& answer, UnixNs now) {
  const std::string_view wanted = answer.header("retry-after");
  if (wanted.empty()) return std::nullopt;
  // Two clocks may differ by more than the wait: the sender's own says what it means.
  const auto date = parse_http_date(answer.header("date"));
  return parse_retry_after(wanted, date.value_or(now));
}

void read_partial_success(WireReader message, OtlpResponse& response, bool& ok) {
  while (message.next()) {
    if (message.is(1, WireType::kVarint)) {
      response.rejected = static_cast<uint64_t>(std::max<int64_t>(message.int64(), 0));
    } else if (message.is(2, WireType::kBytes)) {
      response.message = one_line(message.bytes());
    } else {
      message.skip();
    }
  }
  ok = ok && message.ok();
}

std::optional<OtlpResponse> parse_json_response(std::string_view body) {
  const auto tree = JsonTree::parse(body);
  if (!tree || !tree->root().fields()) return std::nullopt;
  OtlpResponse response;
  for (const auto& [key, value] : tree->root()["partialSuccess"].fields().value_or({})) {
    const auto text = value.text();
    if (key == "errorMessage") {
      if (text) response.message = one_line(*text);
    } else if (key.starts_with("rejected")) {
      // 64-bit integers are strings in the JSON of protobuf; numbers are taken too.
      if (text) {
        if (!parse_number(*text, response.rejected)) return std::nullopt;
      } else {
        response.rejected =
            static_cast<uint64_t>(std::max<int64_t>(value.integer().value_or(0), 0));
      }
    }
  }
  return response;
}

int64_t read_duration(WireReader duration) {
  int64_t seconds = 0;
  int64_t nanos = 0;
  while (duration.next()) {
    if (duration.is(1, WireType::kVarint)) {
      seconds = duration.int64();
    } else if (duration.is(2, WireType::kVarint)) {
      nanos = duration.int64();
    } else {
      duration.skip();
    }
  }
  return std::clamp<int64_t>(seconds, 0, kMaxDelaySeconds) * kSecond +
         std::clamp<int64_t>(nanos, 0, kSecond);
}

}  // namespace

std::optional<int64_t> parse_retry_after(std::string_view text, UnixNs now) {
  int64_t seconds = 0;
  if (parse_number(text, seconds) && seconds >= 0)
    return std::min(seconds, kMaxDelaySeconds) * kSecond;
  const auto date = parse_http_date(text);
  if (!date) return std::nullopt;
  return std::clamp<int64_t>(*date - now, 0, kMaxDelaySeconds * kSecond);
}

std::string refusal_text(const HttpAnswer& answer) {
  std::string text;
  if (is_json(answer)) {
    text = json_message(answer.body);
  } else if (answer.header("content-type").find("proto") != std::string_view::npos) {
    text = status_message(answer.body);
  } else if (answer.header("content-type").find("html") == std::string_view::npos) {
    text = answer.body;
  }
  return one_line(text);
}

SendOutcome outcome_of(const Result<HttpAnswer>& answer, UnixNs now) {
  if (!answer) return SendOutcome::retry(answer.error().message);
  const int status = answer->status;
  if (status >= 200 && status < 300) return SendOutcome::sent();
  const std::string text = refusal_text(*answer);
  const std::string reason =
      text.empty() ? fmt::format("HTTP {}", status) : fmt::format("HTTP {}: {}", status, text);
  if (status == 413) return SendOutcome::too_large(reason);
  const bool is_refusal = status >= 400 && status < 500 && status != 408 && status != 429;
  if (is_refusal) return SendOutcome::rejected(reason);
  return SendOutcome::retry(reason, retry_after_of(*answer, now).value_or(-1));
}

std::optional<OtlpResponse> parse_otlp_response(std::string_view body, bool is_json) {
  if (body.empty()) return OtlpResponse();
  if (is_json) return parse_json_response(body);
  OtlpResponse response;
  bool ok = true;
  WireReader reader(body);
  while (reader.next()) {
    // Whatever else it has, it is not what was asked for.
    if (!reader.is(1, WireType::kBytes)) return std::nullopt;
    read_partial_success(reader.message(), response, ok);
  }
  if (!ok || !reader.ok()) return std::nullopt;
  return response;
}

std::optional<int64_t> retry_delay_of(std::string_view status_details) {
  std::optional<int64_t> delay;
  WireReader status(status_details);
  while (status.next()) {
    if (!status.is(3, WireType::kBytes)) {
      status.skip();
      continue;
    }
    WireReader any = status.message();
    std::string_view type;
    std::string_view value;
    while (any.next()) {
      if (any.is(1, WireType::kBytes)) {
        type = any.bytes();
      } else if (any.is(2, WireType::kBytes)) {
        value = any.bytes();
      } else {
        any.skip();
      }
    }
    if (!type.ends_with("google.rpc.RetryInfo")) continue;
    WireReader info(value);
    while (info.next()) {
      if (info.is(1, WireType::kBytes)) {
        delay = read_duration(info.message());
      } else {
        info.skip();
      }
    }
  }
  return status.ok() ? delay : std::nullopt;
}

}  // namespace vesta::agent
