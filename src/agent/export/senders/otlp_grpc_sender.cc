#include <fmt/format.h>
#include <grpc/byte_buffer.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "agent/export/senders/http_outcome.h"
#include "agent/export/senders/otlp_sender.h"
#include "base/file.h"
#include "base/mutex.h"
#include "formats/common/compression.h"

// The friend of ByteBuffer that gRPC leaves to others to define.
namespace grpc::internal {

class GrpcByteBufferPeer {
 public:
  // A message that is compressed already, which gRPC sends as it is. It would compress with zlib,
  // which takes three times as long for the same size.
  static ByteBuffer of_gzip(const Slice& bytes) {
    grpc_slice slice = bytes.c_slice();
    ByteBuffer out;
    out.set_buffer(grpc_raw_compressed_byte_buffer_create(&slice, 1, GRPC_COMPRESS_GZIP));
    grpc_slice_unref(slice);  // the buffer has its own reference
    return out;
  }
};

}  // namespace grpc::internal

namespace vesta::agent {
namespace {

constexpr int kGzipLevel = 4;

constexpr const char* kMethod =
    "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export";
constexpr int kMaxMessageBytes = 4 << 20;
constexpr int kMaxReconnectMs = 30'000;
constexpr unsigned kCertificateSeconds = 60;  // how often changed files are looked for
constexpr uint64_t kMaxPemBytes = uint64_t{4} << 20;
constexpr const char* kSystemCa = "/etc/ssl/certs/ca-certificates.crt";

// Without advice on when to come back, "exhausted" is about rates or about sizes; the words tell.
bool is_about_size(std::string_view message) {
  std::string text(message);
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  static constexpr std::array<std::string_view, 6> kWords = {
      "larger than", "too large", "too big", "size", "exceeds", "exceeded"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

SendOutcome outcome_of_status(const grpc::Status& status) {
  const std::string reason =
      fmt::format("gRPC {}: {}", static_cast<int>(status.error_code()), status.error_message());
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::UNIMPLEMENTED:
      return SendOutcome::rejected(reason);
    case grpc::StatusCode::RESOURCE_EXHAUSTED: {
      const auto delay = retry_delay_of(status.error_details());
      if (!delay && is_about_size(status.error_message())) return SendOutcome::too_large(reason);
      return SendOutcome::retry(reason, delay.value_or(-1));
    }
    default:
      return SendOutcome::retry(reason, retry_delay_of(status.error_details()).value_or(-1));
  }
}

// Metadata keys are in lower case, and values are printable.
bool is_metadata(const std::string& name, const std::string& value) {
  const bool name_ok = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-' || c == '_' || c == '.';
  });
  return name_ok && !name.ends_with("-bin") &&
         std::ranges::all_of(value, [](unsigned char c) { return c >= 0x20 && c < 0x7F; });
}

class OtlpGrpcSender final : public Sender {
 public:
  OtlpGrpcSender(const ExporterConfig& config, std::shared_ptr<grpc::Channel> channel,
                 std::vector<std::pair<std::string, std::string>> metadata)
      : channel_(std::move(channel)),
        stub_(channel_),
        metadata_(std::move(metadata)),
        timeout_(config.timeout_ns),
        gzip_(config.gzip) {}

  SendOutcome send(const Payload& payload) override {
    std::string response;
    const grpc::Status status = call(payload.bytes, response);
    if (!status.ok()) return outcome_of_status(status);
    return outcome_of_response(response, false, payload, &count_otlp_profiles);
  }

  void cancel() override {
    const MutexLock guard(lock_);
    is_cancelled_ = true;
    if (running_ != nullptr) running_->TryCancel();
  }

 private:
  grpc::Status call(const std::string& message, std::string& response) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::duration_cast<std::chrono::milliseconds>(timeout_));
    if (gzip_) context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    for (const auto& [name, value] : metadata_) context.AddMetadata(name, value);
    if (!set_running(&context)) return {grpc::StatusCode::CANCELLED, "the exporter is stopping"};
    const grpc::Slice slice(gzip_ ? gzip(message, kGzipLevel) : message);
    const grpc::ByteBuffer request =
        gzip_ ? grpc::internal::GrpcByteBufferPeer::of_gzip(slice) : grpc::ByteBuffer(&slice, 1);
    grpc::CompletionQueue queue;
    const auto reader = stub_.PrepareUnaryCall(&context, kMethod, request, &queue);
    reader->StartCall();
    grpc::ByteBuffer answer;
    grpc::Status status;
    reader->Finish(&answer, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    set_running(nullptr);
    std::vector<grpc::Slice> slices;
    if (status.ok() && !answer.Dump(&slices).ok())
      return {grpc::StatusCode::INTERNAL, "cannot decompress the answer"};
    for (const grpc::Slice& part : slices)
      response.append(reinterpret_cast<const char*>(part.begin()), part.size());
    return status;
  }

  bool set_running(grpc::ClientContext* context) {
    const MutexLock guard(lock_);
    running_ = context;
    return !is_cancelled_;
  }

  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  const std::vector<std::pair<std::string, std::string>> metadata_;
  const std::chrono::nanoseconds timeout_;
  const bool gzip_;
  Mutex lock_;
  grpc::ClientContext* running_ GUARDED_BY(lock_) = nullptr;
  bool is_cancelled_ GUARDED_BY(lock_) = false;
};

Status check_pem(const std::string& path) {
  auto file = InputFile::open(path, kMaxPemBytes);
  if (!file) return std::move(file).error();
  if (file->bytes().find("-----BEGIN ") == std::string_view::npos)
    return Error{ErrorCode::kUsage, path + " is not a PEM file",
                 "use PEM files for certificates and keys"};
  return {};
}

// Files are looked at again from time to time, so that renewed certificates count.
Result<std::shared_ptr<grpc::ChannelCredentials>> tls_credentials(const ExporterTls& tls) {
  const std::string ca = tls.ca_file.empty() ? kSystemCa : tls.ca_file;
  const bool has_own = !tls.cert_file.empty();
  if (!tls.skip_verify) VESTA_TRY(check_pem(ca));
  if (has_own) {
    VESTA_TRY(check_pem(tls.cert_file));
    VESTA_TRY(check_pem(tls.key_file));
  }
  grpc::experimental::TlsChannelCredentialsOptions options;
  if (!tls.skip_verify || has_own) {
    options.set_certificate_provider(
        std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
            tls.key_file, tls.cert_file, tls.skip_verify ? "" : ca, kCertificateSeconds));
  }
  if (has_own) options.watch_identity_key_cert_pairs();
  if (tls.skip_verify) {
    options.set_verify_server_certs(false);
    options.set_check_call_host(false);
    options.set_certificate_verifier(
        std::make_shared<grpc::experimental::NoOpCertificateVerifier>());
  } else {
    options.watch_root_certs();
    options.set_certificate_verifier(
        std::make_shared<grpc::experimental::HostNameCertificateVerifier>());
  }
  return grpc::experimental::TlsCredentials(options);
}

struct GrpcTarget {
  std::string address;  // host:port
  bool is_tls = false;
};

// "host:4317" or a URL. TLS by the scheme; without one, when anything about TLS is set.
Result<GrpcTarget> parse_target(const ExporterConfig& config) {
  const ExporterTls& tls = config.tls;
  GrpcTarget target{config.endpoint,
                    tls.skip_verify || !tls.ca_file.empty() || !tls.cert_file.empty()};
  if (const size_t scheme = config.endpoint.find("://"); scheme != std::string::npos) {
    const std::string_view word = std::string_view(config.endpoint).substr(0, scheme);
    if (word != "http" && word != "https") {
      return Error{
          ErrorCode::kUsage,
          fmt::format("{}: '{}' is not a valid gRPC endpoint", config.name, config.endpoint),
          "use host:port, http://host:port, or https://host:port for TLS"};
    }
    target.is_tls = word == "https";
    target.address = config.endpoint.substr(scheme + 3);
    while (target.address.ends_with('/')) target.address.pop_back();
  }
  const bool has_port = target.address.rfind(':') != std::string::npos &&
                        !target.address.ends_with(']') && !target.address.ends_with(':');
  if (target.address.empty() || target.address.find('/') != std::string::npos || !has_port) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{}: '{}' is not a host and port", config.name, config.endpoint),
                 "as in collector.example:4317"};
  }
  return target;
}

}  // namespace

Result<std::unique_ptr<Sender>> make_otlp_grpc_sender(const ExporterConfig& config,
                                                      std::string_view version) {
  VESTA_ASSIGN(const GrpcTarget target, parse_target(config));
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (target.is_tls) {
    VESTA_ASSIGN(credentials, tls_credentials(config.tls));
  }
  std::vector<std::pair<std::string, std::string>> metadata;
  for (const auto& [name, value] : config.headers) {
    std::string key = name;
    std::ranges::transform(key, key.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (!is_metadata(key, value)) {
      return Error{ErrorCode::kUsage,
                   fmt::format("{}: the header '{}' cannot be sent over gRPC", config.name, name),
                   "use letters, digits, '-', '_' and '.' in names, and plain ASCII in values"};
    }
    metadata.emplace_back(std::move(key), value);
  }
  grpc::ChannelArguments arguments;
  arguments.SetUserAgentPrefix(fmt::format("vesta/{}", version));
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(-1);
  // Retries are the queue's business, and each exporter has its own connection.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMs);
  auto channel = grpc::CreateCustomChannel(target.address, credentials, arguments);
  return std::unique_ptr<Sender>(
      std::make_unique<OtlpGrpcSender>(config, std::move(channel), std::move(metadata)));
}

}  // namespace vesta::agent
