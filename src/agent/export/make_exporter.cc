#include "agent/export/make_exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "agent/export/codecs/payload_codecs.h"
#include "agent/export/queued_exporter.h"
#include "agent/export/senders/file_sender.h"
#include "agent/export/senders/http_post.h"
#include "agent/export/senders/otlp_sender.h"
#include "agent/export/senders/pyroscope_sender.h"

namespace vesta::agent {
namespace {

constexpr const char* kProfilesPath = "/v1development/profiles";
constexpr const char* kLogsPath = "/v1/logs";
constexpr size_t kMaxNameBytes = 100;

Status check(const ExporterConfig& config) {
  // The name becomes a folder.
  const bool is_name = !config.name.empty() && config.name.size() <= kMaxNameBytes &&
                       config.name[0] != '.' &&
                       std::ranges::all_of(config.name, [](unsigned char c) {
                         return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
                       });
  if (!is_name) {
    return Error{ErrorCode::kUsage, fmt::format("'{}' is not a valid exporter name", config.name),
                 "use letters, digits, '-', '_' and '.'"};
  }
  if (config.tls.cert_file.empty() != config.tls.key_file.empty()) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{}: tls.cert and tls.key must be set together", config.name),
                 "set both, or neither"};
  }
  const bool is_http =
      config.kind != ExporterKind::kOtlpGrpc && config.kind != ExporterKind::kFiles;
  const std::string& url = config.endpoint;
  if (is_http && !url.starts_with("http://") && !url.starts_with("https://")) {
    return Error{ErrorCode::kUsage, fmt::format("{}: '{}' is no URL", config.name, url),
                 "as in http://localhost:4318"};
  }
  for (const auto& [name, value] : config.headers) {
    const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
    if (name.empty() || name.find(':') != std::string::npos ||
        std::ranges::any_of(name + value, is_control)) {
      return Error{ErrorCode::kUsage,
                   fmt::format("{}: the header '{}' cannot be sent", config.name, name),
                   "a header must be one line"};
    }
  }
  if (config.kind == ExporterKind::kFiles && config.directory.empty())
    return Error{ErrorCode::kUsage, fmt::format("{}: directory is missing", config.name), ""};
  return {};
}

struct Protocol {
  std::unique_ptr<PayloadCodec> codec;
  std::unique_ptr<Sender> sender;
};

std::string otlp_url(const ExporterConfig& config, const char* path) {
  return has_no_path(config.endpoint) ? with_path(config.endpoint, path) : config.endpoint;
}

Result<Protocol> make_protocol(const ExporterConfig& config, const std::string& version,
                               const ExportClock& clock) {
  Protocol out;
  switch (config.kind) {
    case ExporterKind::kOtlpGrpc: {
      out.codec = make_otlp_codec(version);
      VESTA_ASSIGN(out.sender, make_otlp_grpc_sender(config, version));
      break;
    }
    case ExporterKind::kOtlpHttp:
      out.codec = make_otlp_codec(version);
      out.sender = make_otlp_http_sender(config, otlp_url(config, kProfilesPath),
                                         &count_otlp_profiles, version, clock);
      break;
    case ExporterKind::kPyroscopePush:
      out.codec = make_push_codec();
      out.sender = make_push_sender(config, version, clock);
      break;
    case ExporterKind::kPyroscopeIngest:
      out.codec = make_pyroscope_ingest_codec();
      out.sender = make_pyroscope_ingest_sender(config, version, clock);
      break;
    case ExporterKind::kFiles: {
      out.codec = make_file_codec();
      VESTA_ASSIGN(out.sender, make_file_sender(config));
      break;
    }
    case ExporterKind::kOtlpLogs:
      out.codec = make_otlp_logs_codec(version);
      out.sender = make_otlp_http_sender(config, otlp_url(config, kLogsPath),
                                         &count_otlp_log_records, version, clock);
      break;
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<Exporter>> make_exporter(const ExporterConfig& config,
                                                const ExportEnvironment& environment) {
  VESTA_TRY(check(config));
  const ExportClock& clock =
      environment.clock != nullptr ? *environment.clock : system_export_clock();
  auto protocol = make_protocol(config, environment.version, clock);
  if (!protocol) return std::move(protocol).error();
  DiskQueueOptions queue_options;
  queue_options.folder = fmt::format("{}/queue/{}", environment.state, config.name);
  queue_options.max_bytes = config.queue_bytes;
  queue_options.max_age_ns = config.queue_age_ns;
  auto queue = BatchQueue::open(queue_options, clock);
  if (!queue) return with_context(std::move(queue).error(), config.name);
  UploaderOptions upload;
  upload.interval_ns =
      config.upload_interval_ns > 0 ? config.upload_interval_ns : environment.upload_interval_ns;
  return std::unique_ptr<Exporter>(
      std::make_unique<QueuedExporter>(config.name, std::move(*queue), std::move(protocol->codec),
                                       std::move(protocol->sender), upload, clock));
}

}  // namespace vesta::agent
