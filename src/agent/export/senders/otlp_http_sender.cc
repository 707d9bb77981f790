#include <fmt/format.h>

#include <algorithm>

#include "agent/export/senders/http_outcome.h"
#include "agent/export/senders/http_post.h"
#include "agent/export/senders/otlp_sender.h"
#include "formats/common/compression.h"
#include "formats/protobuf/wire.h"

namespace vesta::agent {
namespace {

// Fields of that number in messages that lie `path` deep.
uint64_t count_fields(WireReader message, std::span<const uint32_t> path) {
  uint64_t count = 0;
  while (message.next()) {
    if (!message.is(path[0], WireType::kBytes)) {
      message.skip();
    } else if (path.size() == 1) {
      message.skip();
      ++count;
    } else {
      count += count_fields(message.message(), path.subspan(1));
    }
  }
  return count;
}

class OtlpHttpSender final : public Sender {
 public:
  OtlpHttpSender(const ExporterConfig& config, std::string url, CountUnits count_units,
                 std::string_view version, const ExportClock& clock)
      : url_(std::move(url)),
        gzip_(config.gzip),
        count_units_(count_units),
        post_(config, version, clock) {}

  SendOutcome send(const Payload& payload) override {
    HttpPost::Headers headers = {{"Content-Type", "application/x-protobuf"}};
    if (gzip_) headers.emplace_back("Content-Encoding", "gzip");
    HttpAnswer answer;
    SendOutcome outcome =
        post_.post(url_, gzip_ ? gzip(payload.bytes) : payload.bytes, headers, answer);
    if (outcome.kind != SendOutcome::Kind::kSent) return outcome;
    const bool is_json = answer.header("content-type").find("json") != std::string_view::npos;
    return outcome_of_response(answer.body, is_json, payload, count_units_);
  }
  void cancel() override { post_.cancel(); }

 private:
  const std::string url_;
  const bool gzip_;
  const CountUnits count_units_;
  HttpPost post_;
};

}  // namespace

uint64_t count_otlp_profiles(std::string_view message) {
  static constexpr uint32_t kPath[] = {1, 2, 2};
  return count_fields(WireReader(message), kPath);
}

uint64_t count_otlp_log_records(std::string_view message) {
  return count_otlp_profiles(message);  // resource_logs, scope_logs, log_records: the same numbers
}

SendOutcome outcome_of_response(std::string_view response, bool is_json, const Payload& payload,
                                CountUnits count_units) {
  const auto parsed = parse_otlp_response(response, is_json);
  if (!parsed) return SendOutcome::retry("the answer is not an OTLP response");
  if (parsed->rejected == 0) return SendOutcome::sent();
  const uint64_t units = std::max<uint64_t>(count_units(payload.bytes), 1);
  const uint64_t rejected = std::min(parsed->rejected, units);
  const uint64_t share = (rejected * payload.profiles + units - 1) / units;
  const std::string reason =
      parsed->message.empty() ? "partly rejected, without a reason" : parsed->message;
  return SendOutcome::partly_sent(static_cast<uint32_t>(share), reason);
}

std::unique_ptr<Sender> make_otlp_http_sender(const ExporterConfig& config, const std::string& url,
                                              CountUnits count_units, std::string_view version,
                                              const ExportClock& clock) {
  return std::make_unique<OtlpHttpSender>(config, url, count_units, version, clock);
}

}  // namespace vesta::agent
