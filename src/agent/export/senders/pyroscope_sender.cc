#include "agent/export/senders/pyroscope_sender.h"

#include <fmt/format.h>

#include <string>

#include "agent/export/codecs/payload_codecs.h"
#include "agent/export/senders/http_post.h"

namespace vesta::agent {
namespace {

// The profiles inside are compressed already: nothing is left for a Content-Encoding.
class PushSender final : public Sender {
 public:
  PushSender(const ExporterConfig& config, std::string_view version, const ExportClock& clock)
      : url_(with_path(config.endpoint, "/push.v1.PusherService/Push")),
        headers_{{"Content-Type", "application/proto"},
                 {"Connect-Protocol-Version", "1"},
                 {"Connect-Timeout-Ms", std::to_string(config.timeout_ns / 1'000'000)}},
        post_(config, version, clock) {}

  SendOutcome send(const Payload& payload) override {
    HttpAnswer answer;
    return post_.post(url_, payload.bytes, headers_, answer);
  }
  void cancel() override { post_.cancel(); }

 private:
  const std::string url_;
  const HttpPost::Headers headers_;
  HttpPost post_;
};

// Which words make Pyroscope find the family again that a profile had; it guesses by them.
std::string_view type_config(std::string_view family) {
  if (family == "block")
    return R"({"contentions":{"display-name":"block_count"},"delay":{"display-name":"block_duration"}})";
  if (family == "mutex")
    return R"({"contentions":{"display-name":"mutex_count"},"delay":{"display-name":"mutex_duration"}})";
  return {};
}

class IngestSender final : public Sender {
 public:
  IngestSender(const ExporterConfig& config, std::string_view version, const ExportClock& clock)
      : url_(with_path(config.endpoint, "/ingest")), clock_(clock), post_(config, version, clock) {}

  SendOutcome send(const Payload& payload) override {
    const auto profile = decode_single(payload.bytes);
    if (!profile) return SendOutcome::rejected(profile.error().message);
    std::string url =
        fmt::format("{}{}name={}&from={}&until={}&spyName=vesta&format=pprof", url_,
                    url_.find('?') == std::string::npos ? '?' : '&', percent_encode(profile->name),
                    profile->from_ns, profile->until_ns);
    if (profile->period_ns > 0)
      url += fmt::format("&sampleRate={}",
                         (1'000'000'000 + profile->period_ns / 2) / profile->period_ns);
    // Nothing in gzip and JSON can be told beforehand; 64 random bits do not turn up by chance.
    const std::string boundary =
        fmt::format("vesta-{:016x}", static_cast<uint64_t>(clock_.random() * 0x1p63));
    HttpAnswer answer;
    return post_.post(url, form(*profile, boundary),
                      {{"Content-Type", fmt::format("multipart/form-data; boundary={}", boundary)}},
                      answer);
  }
  void cancel() override { post_.cancel(); }

 private:
  static std::string form(const SingleProfile& profile, const std::string& boundary) {
    std::string body;
    const auto part = [&](std::string_view name, std::string_view file, std::string_view content) {
      body += fmt::format(
          "--{}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\n"
          "Content-Type: application/octet-stream\r\n\r\n",
          boundary, name, file);
      body += content;
      body += "\r\n";
    };
    part("profile", "profile.pprof", profile.pprof);
    if (const auto config = type_config(profile.family); !config.empty())
      part("sample_type_config", "sample_type_config.json", config);
    return body + fmt::format("--{}--\r\n", boundary);
  }

  const std::string url_;
  const ExportClock& clock_;
  HttpPost post_;
};

}  // namespace

std::unique_ptr<Sender> make_push_sender(const ExporterConfig& config, std::string_view version,
                                         const ExportClock& clock) {
  return std::make_unique<PushSender>(config, version, clock);
}

std::unique_ptr<Sender> make_pyroscope_ingest_sender(const ExporterConfig& config,
                                                     std::string_view version,
                                                     const ExportClock& clock) {
  return std::make_unique<IngestSender>(config, version, clock);
}

}  // namespace vesta::agent
