#include "server/grpc/grpc_server.h"

#include <fmt/format.h>
#include <grpc/impl/codegen/grpc_types.h>
#include <grpcpp/ext/health_check_service_server_builder_option.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>

#include <algorithm>
#include <exception>
#include <vector>

#include "base/percent.h"
#include "formats/common/compression.h"
#include "server/grpc/grpc_status.h"
#include "server/http/connection_cap.h"
#include "server/http/http_text.h"
#include "server/rpc/request_id.h"

namespace vesta::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxMetadataBytes = 32 * 1024;
constexpr int kMaxStreams = 256;
constexpr int kHandshakeMs = 10'000;
constexpr int kKeepAliveMs = 60'000;
constexpr int kKeepAliveAnswerMs = 20'000;
constexpr int kIdleMs = 600'000;

struct Environment {
  const Dispatcher& dispatcher;
  WorkerPool& pool;
  MemoryBudget& budget;
};

grpc::Status status_of(const Error& error) {
  const int code = grpc_code_of(error.code);
  const std::string message = grpc_message_of(error);
  return {static_cast<grpc::StatusCode>(code), message,
          is_passing(error.code) ? grpc_retry_details(code, message) : std::string()};
}

// "ipv4:127.0.0.1:4321" or "ipv6:%5B::1%5D:4321" without the port.
std::string peer_address(std::string_view peer) {
  const size_t scheme = peer.find(':');
  if (scheme == std::string_view::npos) return std::string(peer);
  std::string text = percent_decode(peer.substr(scheme + 1), false).value_or("");
  text = text.substr(0, text.rfind(':'));
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

std::string to_string(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  (void)buffer.Dump(&slices);
  std::string out;
  out.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices) {
    out.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return out;
}

// The byte 0x1f cannot begin a protobuf message (wire type 7), so the magic bytes tell for sure.
Result<std::string> unpack(const grpc::ByteBuffer& buffer, uint64_t max_bytes,
                           MemoryBudget::Lease& lease) {
  const Error busy{ErrorCode::kTooMany, "requests in flight exceed the server's memory limit",
                   "try again in a moment"};
  if (!lease.resize(buffer.Length())) return busy;
  std::string bytes = to_string(buffer);
  const bool packed = detect_compression(bytes) == Compression::kGzip;
  return decode_body(std::move(bytes), packed ? "gzip" : "", max_bytes, lease);
}

// One unary call. Deletes itself when gRPC is done with it.
class Call final : public grpc::ServerGenericBidiReactor {
 public:
  Call(Environment& environment, grpc::GenericCallbackServerContext& context)
      : environment_(environment),
        context_(context),
        lease_(environment.budget),
        start_(Clock::now()) {}

  void begin() {
    caller_.address = peer_address(context_.peer());
    endpoint_ = environment_.dispatcher.router().find_rpc(context_.method());
    if (endpoint_ == nullptr) {
      return refuse({ErrorCode::kUnsupported,
                     fmt::format("unknown method {}", header_safe(context_.method())),
                     {}},
                    "not_found");
    }
    for (const char* name : {"authorization", "x-scope-orgid"}) {
      if (context_.client_metadata().count(name) < 2) continue;
      return refuse({ErrorCode::kInvalidInput, fmt::format("the call has more than one {}", name),
                     "send one"},
                    "malformed");
    }
    const Credentials credentials{metadata("authorization"), metadata("x-scope-orgid"),
                                  caller_.address};
    const auto admitted = environment_.dispatcher.admit_caller(credentials, endpoint_->scope());
    if (!admitted) {
      if (admitted.error().code == ErrorCode::kPermission)
        caller_ = environment_.dispatcher.owner_of(credentials, caller_);
      return refuse(admitted.error(), "unauthenticated");
    }
    caller_ = *admitted;
    lease_.assign(environment_.budget.holder(caller_.tenant));
    StartRead(&request_);
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return refuse({ErrorCode::kInvalidInput, "the call has no message", {}}, "malformed");
    if (!environment_.pool.post(endpoint_->scope(), caller_.tenant, [this] { handle(); })) {
      refuse({ErrorCode::kUnavailable, "the server is overloaded", "try again in a moment"},
             "queue");
    }
  }
  void OnDone() override { delete this; }

  std::string_view metadata(const std::string& name) const {
    const auto& all = context_.client_metadata();
    const auto found = all.find(name);
    if (found == all.end()) return {};
    return {found->second.data(), found->second.size()};
  }

  void handle() {
    // Nobody waits any more: the work can be saved.
    if (context_.IsCancelled()) {
      return finish(grpc::Status(grpc::StatusCode::CANCELLED, "the client has disconnected"), 499,
                    {});
    }
    bytes_in_ = request_.Length();
    auto answer = run();
    request_.Clear();
    lease_.resize(0);
    if (answer) {
      if (const Status covered =
              environment_.dispatcher.cover_answer(answer->capacity(), caller_.tenant, lease_);
          !covered) {
        answer = covered.error();
      }
    }
    if (!answer) return finish(status_of(answer.error()), http_status_of(answer.error().code), {});
    bytes_out_ = answer->size();
    grpc::WriteOptions options;
    if (answer->size() < kMinCompressedBytes) {
      options.set_no_compression();
    } else {
      context_.set_compression_level(GRPC_COMPRESS_LEVEL_LOW);
    }
    const grpc::Slice slice(*answer);
    response_ = grpc::ByteBuffer(&slice, 1);
    observe(200, {});
    StartWriteAndFinish(&response_, options, grpc::Status::OK);
  }

  Result<std::string> run() {
    const RunningRequests::Entry entry(environment_.dispatcher.running(), endpoint_->pattern());
    try {
      VESTA_ASSIGN(const std::string message,
                   unpack(request_, environment_.dispatcher.limits().max_decoded_bytes, lease_));
      const Scope scope = endpoint_->scope();
      MemoryAccount account = environment_.dispatcher.account_for(scope, caller_.tenant, lease_);
      const MemoryAccount::Scope current(account);
      VESTA_TRY(charge_for_write(scope, message.size()));
      for (const auto& [name, value] : context_.client_metadata()) {
        caller_.headers.emplace_back(std::string(name.data(), name.size()),
                                     std::string(value.data(), value.size()));
      }
      const auto left = context_.deadline() - std::chrono::system_clock::now();
      if (left < std::chrono::hours(24)) {
        caller_.deadline = std::min(caller_.deadline, Clock::now() + left);
      }
      return endpoint_->rpc->handler(message, caller_);
    } catch (const std::bad_alloc&) {
      return Error{ErrorCode::kUnavailable, "out of memory", "try again, or narrow the query"};
    } catch (const std::exception& e) {
      return Error{ErrorCode::kIo, std::string("internal error: ") + e.what(), {}};
    }
  }

  void refuse(const Error& error, std::string_view reason) {
    finish(status_of(error), http_status_of(error.code), reason);
  }

  void finish(const grpc::Status& status, int http_status, std::string_view rejected) {
    observe(http_status, rejected);
    Finish(status);
  }

  void observe(int status, std::string_view rejected) {
    const std::string_view sent = metadata("x-request-id");
    const std::string id = is_request_id(sent) ? std::string(sent) : new_request_id();
    RequestRecord record;
    record.transport = "grpc";
    record.method = "POST";
    record.target = context_.method();
    record.request_id = id;
    record.caller = &caller_;
    if (endpoint_ != nullptr) {
      record.route = endpoint_->pattern();
      record.scope = endpoint_->scope();
    }
    record.status = status;
    record.bytes_in = bytes_in_;
    record.bytes_out = bytes_out_;
    record.duration = Clock::now() - start_;
    record.rejected = rejected;
    environment_.dispatcher.observe(record);
  }

  Environment& environment_;
  grpc::GenericCallbackServerContext& context_;
  const Endpoint* endpoint_ = nullptr;
  Caller caller_;
  MemoryBudget::Lease lease_;
  Clock::time_point start_;
  uint64_t bytes_in_ = 0;
  uint64_t bytes_out_ = 0;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

class Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(Environment& environment) : environment_(environment) {}
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    auto* call = new Call(environment_, *context);
    call->begin();
    return call;
  }

 private:
  Environment& environment_;
};

std::shared_ptr<grpc::ServerCredentials> credentials_of(const TlsFiles& tls) {
  if (!tls.enabled()) return grpc::InsecureServerCredentials();
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(tls.check_interval).count();
  auto provider = std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      tls.key, tls.certificate, tls.client_ca, static_cast<unsigned>(seconds));
  grpc::experimental::TlsServerCredentialsOptions options(provider);
  options.watch_identity_key_cert_pairs();
  if (!tls.client_ca.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

}  // namespace

struct GrpcServer::Parts {
  Parts(const Dispatcher& dispatcher, WorkerPool& pool, MemoryBudget& budget)
      : environment{dispatcher, pool, budget}, service(environment) {}

  Environment environment;
  Service service;
  // Hands connections to the server, and is stopped before it.
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> entrance;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<TcpAcceptor> acceptor;
};

GrpcServer::GrpcServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

GrpcServer::~GrpcServer() {
  stop(std::chrono::milliseconds(0));
}

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(const GrpcServerOptions& options,
                                                      const Dispatcher& dispatcher,
                                                      WorkerPool& pool, MemoryBudget& budget,
                                                      Log& /*log*/) {
  auto parts = std::make_unique<Parts>(dispatcher, pool, budget);
  if (options.tls.enabled()) {
    // The library says nothing about files it cannot use; ours does.
    VESTA_TRY(TlsContext::open(options.tls));
  }
  VESTA_ASSIGN(parts->acceptor,
               TcpAcceptor::listen(options.address,
                                   std::min(options.max_connections, grpc_connection_cap())));
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  using Entrance = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  parts->entrance = builder.experimental().AddExternalConnectionAcceptor(
      Entrance::FROM_FD, credentials_of(options.tls));
  builder.RegisterCallbackGenericService(&parts->service);
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
  builder.SetMaxSendMessageSize(-1);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreams);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepAliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepAliveAnswerMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
  grpc::ResourceQuota quota("vesta");
  quota.Resize(budget.total());
  builder.SetResourceQuota(quota);
  parts->server = builder.BuildAndStart();
  if (parts->server == nullptr) {
    return Error{ErrorCode::kIo, "cannot start the gRPC server",
                 "see the messages of the gRPC library above"};
  }
  if (auto* health = parts->server->GetHealthCheckService()) health->SetServingStatus(true);
  parts->acceptor->start(
      [entrance = parts->entrance.get(), listener = parts->acceptor->listener()](int fd) {
        grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
        connection.listener_fd = listener;
        connection.fd = fd;
        entrance->HandleNewConnection(&connection);
      });
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(parts)));
}

const ListenAddress& GrpcServer::address() const {
  return parts_->acceptor->address();
}

TcpAcceptor::Stats GrpcServer::connections() const {
  return parts_->acceptor->stats();
}

void GrpcServer::stop(std::chrono::milliseconds grace) {
  if (parts_->server == nullptr) return;
  parts_->acceptor->stop();
  parts_->server->Shutdown(std::chrono::system_clock::now() + grace);
  parts_->server.reset();
}

}  // namespace vesta::server
