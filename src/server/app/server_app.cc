#include "server/app/server_app.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "ingest/scrape/scraper.h"
#include "server/access/access.h"
#include "server/access/audit_log.h"
#include "server/app/server_metrics.h"
#include "server/app/target_routes.h"
#include "server/config/server_fields.h"
#include "server/files/file_shelf.h"
#include "server/grpc/grpc_server.h"
#include "server/http/http_server.h"
#include "server/ingest/routes.h"
#include "server/kept/kept_files.h"
#include "server/native/native_api.h"
#include "server/ops/request_metrics.h"
#include "server/ops/routes.h"
#include "server/pyroscope/routes.h"
#include "server/rpc/dispatcher.h"
#include "server/ui/ui_routes.h"

namespace vesta::server {
namespace {

constexpr auto kTokenCheck = std::chrono::seconds(1);
constexpr auto kRetentionInterval = std::chrono::minutes(5);
constexpr uint64_t kSettingsBytes = uint64_t{256} << 20;  // of all tenants
constexpr uint64_t kMaxDebugInfoFiles = 100'000;          // of one tenant

// What the port of OTLP/HTTP serves: nothing that reads.
const std::vector<std::string>& otlp_paths() {
  static const std::vector<std::string> kPaths = {
      "/v1development/profiles",
      "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export", "/healthz",
      "/ready"};
  return kPaths;
}

Status make_data_directory(const std::string& path) {
  std::error_code error;
  const bool is_new = std::filesystem::create_directories(path, error);
  if (error) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot create the data directory {}: {}", path, error.message()),
                 "choose another one with --data"};
  }
  // Profiles tell what a company runs: for the owner alone.
  if (is_new) ::chmod(path.c_str(), 0700);
  return {};
}

// What one tenant leaves to the others of a budget, in which the largest piece of work must fit.
uint64_t reserve_for_tenants(const ServerConfig& config, uint64_t budget, uint64_t largest) {
  return config.multi_tenant ? std::min(budget / 4, budget - std::min(budget, largest)) : 0;
}

// The transport lets through what any tenant may send; ingest looks at each tenant's own limits.
RequestLimits request_limits(const ServerConfig& config) {
  RequestLimits limits;
  limits.max_bytes = config.limits.max_body_bytes;
  limits.max_decoded_bytes = config.limits.max_decoded_bytes;
  for (const auto& [tenant, own] : config.tenant_limits) {
    limits.max_bytes = std::max(limits.max_bytes, own.max_body_bytes);
    limits.max_decoded_bytes = std::max(limits.max_decoded_bytes, own.max_decoded_bytes);
  }
  limits.max_bytes = std::min(limits.max_bytes, config.request_memory);
  limits.max_decoded_bytes = std::min(limits.max_decoded_bytes, config.request_memory);
  limits.timeout = std::chrono::nanoseconds(config.query_timeout_ns);
  limits.answer_bytes = config.answer_memory;
  limits.answer_reserve = reserve_for_tenants(config, config.answer_memory, 0);
  return limits;
}

}  // namespace

struct ServerApp::Running {
  Running(ServerConfig server_config, ServerParts server_parts, Log& logger)
      : config(std::move(server_config)), parts(std::move(server_parts)), log(logger) {}

  Status start();
  Status open_access();
  Status open_store();
  Status open_kept_files();
  void start_scraping();
  void add_routes();
  Status listen();
  void observe(const RequestRecord& record);
  void maintain();
  void apply_retention();
  void stop(std::chrono::milliseconds grace);
  std::string unfinished() const;

  const ServerConfig config;
  const ServerParts parts;
  Log& log;

  struct Listening {
    std::optional<ListenAddress> http;
    std::optional<ListenAddress> grpc;
    std::optional<ListenAddress> otlp_http;
  } listening;
  bool tokens_required = false;
  bool is_open_here = false;  // to everybody on this machine, and to nobody else
  std::atomic<bool> ready = false;
  std::atomic<bool> background_ended = false;  // as the next: how far stop() has come
  std::atomic<bool> requests_ended = false;

  // In the order in which they need each other; stop() takes them down.
  std::unique_ptr<TokenStore> tokens;
  std::unique_ptr<Access> access;
  std::unique_ptr<AuditLog> audit;
  RequestMetrics requests;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Ingest> ingest;
  std::unique_ptr<FileShelf> files;
  // What clients gave besides profiles.
  std::unique_ptr<KeptFiles> settings;
  std::unique_ptr<KeptFiles> uploads;
  std::unique_ptr<KeptFiles> debug_info;
  Routes routes;
  std::unique_ptr<MemoryBudget> memory;        // of requests that write, and of all bodies
  std::unique_ptr<MemoryBudget> query_memory;  // of all queries
  std::unique_ptr<Dispatcher> dispatcher;
  std::unique_ptr<WorkerPool> pool;
  std::unique_ptr<HttpServer> http;
  std::unique_ptr<GrpcServer> grpc;
  std::unique_ptr<Scraper> scraper;

  Mutex maintenance_lock;
  CondVar maintenance_wake;
  bool stopping GUARDED_BY(maintenance_lock) = false;
  std::set<std::string> with_retention;  // of the maintenance thread
  std::thread maintenance;
};

ServerApp::ServerApp(ServerConfig config, ServerParts parts, Log& log)
    : running_(std::make_unique<Running>(std::move(config), std::move(parts), log)) {}

ServerApp::~ServerApp() {
  stop(std::chrono::milliseconds(0));
}

Status ServerApp::start() {
  Status status = running_->start();
  if (!status.ok()) running_->stop(std::chrono::milliseconds(0));
  return status;
}

void ServerApp::stop(std::chrono::milliseconds grace) {
  running_->stop(grace);
}

std::string ServerApp::unfinished() const {
  return running_->unfinished();
}

std::optional<ListenAddress> ServerApp::http_address() const {
  return running_->listening.http;
}
std::optional<ListenAddress> ServerApp::grpc_address() const {
  return running_->listening.grpc;
}
std::optional<ListenAddress> ServerApp::otlp_http_address() const {
  return running_->listening.otlp_http;
}
bool ServerApp::tokens_required() const {
  return running_->tokens_required;
}

Status ServerApp::Running::start() {
  VESTA_TRY(check_config(config));
  const auto address = [](const std::string& text,
                          std::string_view key) -> Result<std::optional<ListenAddress>> {
    if (text.empty()) return std::optional<ListenAddress>();
    VESTA_ASSIGN(ListenAddress parsed, parse_listen_address(text, key));
    return std::optional(std::move(parsed));
  };
  VESTA_ASSIGN(listening.http, address(config.http, "server.http"));
  VESTA_ASSIGN(listening.grpc, address(config.grpc, "server.grpc"));
  VESTA_ASSIGN(listening.otlp_http, address(config.otlp_http, "server.otlp_http"));
  VESTA_TRY(make_data_directory(config.data));
  const RequestLimits limits = request_limits(config);
  memory = std::make_unique<MemoryBudget>(
      config.request_memory, reserve_for_tenants(config, config.request_memory,
                                                 limits.max_bytes + limits.max_decoded_bytes));
  const uint64_t queries = std::max(config.query_total_memory, config.query_memory);
  query_memory = std::make_unique<MemoryBudget>(
      queries, reserve_for_tenants(config, queries, config.query_memory));
  VESTA_TRY(open_access());
  VESTA_TRY(open_store());
  VESTA_TRY(open_kept_files());
  start_scraping();
  add_routes();
  VESTA_TRY(listen());
  maintenance = std::thread([this] { maintain(); });
  ready = true;
  return {};
}

Status ServerApp::Running::open_access() {
  VESTA_ASSIGN(tokens, TokenStore::open(TokenStore::path_in(config.data)));
  bool wide = false;
  for (const auto& address : {listening.http, listening.grpc, listening.otlp_http}) {
    wide = wide || (address && !address->is_loopback());
  }
  tokens_required =
      config.tokens == TokenPolicy::kRequired || (config.tokens == TokenPolicy::kAuto && wide);
  is_open_here = !tokens_required && !wide;
  if (tokens_required && tokens->empty()) {
    return Error{ErrorCode::kUsage,
                 wide ? "refusing to listen on a non-loopback address without tokens"
                      : "auth.tokens is required, but no token exists",
                 fmt::format("create one with: vesta token create --data {} --scope write --tenant "
                             "anonymous; or accept all requests with --insecure-no-auth",
                             config.data)};
  }
  if (wide && !tokens_required) {
    log.warn("tokens are off: anyone who can reach this server can read and write everything");
  }
  if (wide && tokens_required && !config.tls.enabled()) {
    log.warn("tokens are sent in clear text: set tls.cert and tls.key, or use a TLS proxy");
  }
  access = std::make_unique<Access>(*tokens, AccessRules{tokens_required, config.multi_tenant});
  if (config.audit) {
    VESTA_ASSIGN(audit, AuditLog::open(AuditOptions::in(config.data)));
  }
  return {};
}

Status ServerApp::Running::open_store() {
  VESTA_ASSIGN(engine, parts.open_engine(config));
  IngestOptions options;
  options.limits = config.limits;
  options.tenant_limits = config.tenant_limits;
  options.keep_timestamps = config.keep_timestamps;
  options.java_names = config.java_names;
  ingest = std::make_unique<Ingest>(*engine, std::move(options));
  FileShelf::Options shelf;
  shelf.limits = config.files;
  shelf.tenant_limits = [this](std::string_view tenant) { return ingest->limits(tenant); };
  files = std::make_unique<FileShelf>(std::move(shelf));
  apply_retention();
  return {};
}

Status ServerApp::Running::open_kept_files() {
  const auto open = [&](std::string_view name, uint64_t count, uint64_t bytes) {
    // Of several tenants, none may take all there is.
    const uint64_t tenant_bytes = config.multi_tenant ? bytes / 2 : bytes;
    return KeptFiles::open(fmt::format("{}/{}", config.data, name), {count, tenant_bytes, bytes});
  };
  VESTA_ASSIGN(settings, open("settings", 1, kSettingsBytes));
  if (config.uploads.bytes != 0) {
    VESTA_ASSIGN(uploads, open("uploads", config.uploads.count, config.uploads.bytes));
  }
  if (config.debug_info_bytes != 0) {
    VESTA_ASSIGN(debug_info, open("debug-info", kMaxDebugInfoFiles, config.debug_info_bytes));
  }
  return {};
}

void ServerApp::Running::start_scraping() {
  if (config.scrape.jobs.empty()) return;
  ScraperOptions options;
  options.memory = memory.get();
  scraper = std::make_unique<Scraper>(*ingest, config.scrape, std::move(options));
}

void ServerApp::Running::add_routes() {
  add_ingest_routes(routes, *ingest);
  PyroscopeQueryOptions query;
  query.budget_bytes = config.query_memory;
  query.max_nodes_limit = static_cast<int64_t>(config.query_max_nodes);
  query.version = parts.version;
  query.settings = settings.get();
  query.uploads = uploads.get();
  query.debug_info = debug_info.get();
  query.files = files.get();
  add_pyroscope_query_routes(routes, *engine, query);
  NativeApiOptions native;
  native.query_bytes = config.query_memory;
  native.query_timeout = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::nanoseconds(config.query_timeout_ns));
  native.max_nodes = config.query_max_nodes;
  native.backup_root = config.backups;
  native.version = parts.version;
  native.ui = config.ui;
  native.sources = config.sources;
  native.local_agent = parts.local_agent;
  native.file_bytes = request_limits(config).max_bytes;
  native.files = files.get();
  native.baselines = &ingest->baselines();
  add_native_routes(routes, *engine, native);
  add_target_routes(routes, scraper.get());
  if (parts.add_routes) parts.add_routes(routes, *engine, *ingest);
  OpsParts ops;
  ops.is_ready = [this] { return ready.load(); };
  ops.needs_restart = [this] { return engine->needs_restart(); };
  ops.metrics_text = [this] {
    // The first requests come before both are there.
    const bool all = ready;
    return metrics_text({&requests, engine.get(), &ingest->counters(), all ? http.get() : nullptr,
                         all ? grpc.get() : nullptr, pool.get(), memory.get(), query_memory.get(),
                         &dispatcher->answers(), audit.get(), parts.version});
  };
  ops.metrics_scope = tokens_required ? Scope::kAdmin : Scope::kNone;
  ops.cpu_profile = parts.cpu_profile;
  ops.command_line = parts.command_line;
  add_ops_routes(routes, ops);
  add_ui_routes(routes, ui_assets());
}

Status ServerApp::Running::listen() {
  dispatcher = std::make_unique<Dispatcher>(
      routes,
      [this](const Credentials& credentials, Scope scope) {
        return access->admit(credentials, scope);
      },
      [this](const RequestRecord& record) { observe(record); }, request_limits(config),
      HostNames(config.hosts, !is_open_here), query_memory.get());
  pool = std::make_unique<WorkerPool>(WorkerPool::Options());
  HttpServerOptions options;
  options.limits = config.http_limits;
  options.tls = config.tls;
  options.path_prefix = config.path_prefix;
  if (listening.http) options.listeners.push_back({*listening.http, {}});
  if (listening.otlp_http) options.listeners.push_back({*listening.otlp_http, otlp_paths()});
  if (!options.listeners.empty()) {
    VESTA_ASSIGN(http, HttpServer::start(options, *dispatcher, *pool, *memory, log));
    size_t next = 0;
    if (listening.http) listening.http = http->addresses()[next++];
    if (listening.otlp_http) listening.otlp_http = http->addresses()[next];
  }
  if (listening.grpc) {
    GrpcServerOptions grpc_options;
    grpc_options.address = *listening.grpc;
    grpc_options.tls = config.tls;
    grpc_options.max_connections = config.http_limits.max_connections;
    grpc_options.max_message_bytes =
        std::min<uint64_t>(dispatcher->limits().max_bytes, uint64_t{INT32_MAX});
    VESTA_ASSIGN(grpc, GrpcServer::start(grpc_options, *dispatcher, *pool, *memory, log));
    listening.grpc = grpc->address();
  }
  return {};
}

void ServerApp::Running::observe(const RequestRecord& record) {
  requests.observe(record);
  if (audit != nullptr) audit->note(record);
}

// A store keeps the policies that it was given. What an earlier configuration said must not stay in
// force for a tenant that nobody uses any more: the size that is kept is that of the whole store.
void ServerApp::Running::apply_retention() {
  std::vector<std::string> tenants = engine->tenants();
  // From their first profile on.
  tenants.emplace_back("anonymous");
  for (const TokenInfo& token : tokens->list()) tenants.push_back(token.tenant);
  for (const std::string& tenant : tenants) {
    if (!with_retention.insert(tenant).second) continue;
    if (const Status status = engine->set_retention(tenant, config.retention); !status.ok()) {
      log.warn("cannot set the retention", {{"problem", status.error().message}});
      with_retention.erase(tenant);
    }
  }
}

void ServerApp::Running::maintain() {
  auto next_retention = std::chrono::steady_clock::now() + kRetentionInterval;
  std::string token_problem;
  MutexLock guard(maintenance_lock);
  while (!maintenance_wake.wait_for(guard, kTokenCheck,
                                    [this]() REQUIRES(maintenance_lock) { return stopping; })) {
    guard.unlock();
    const Status reloaded = tokens->reload_if_changed();
    const std::string problem = reloaded.ok() ? "" : reloaded.error().message;
    if (!problem.empty() && problem != token_problem) {
      log.error("cannot read the tokens; keeping the previous ones", {{"problem", problem}});
    }
    token_problem = problem;
    apply_retention();
    files->expire();
    if (std::chrono::steady_clock::now() >= next_retention) {
      next_retention = std::chrono::steady_clock::now() + kRetentionInterval;
      if (const Status status = engine->apply_retention(unix_now().ns); !status.ok()) {
        log.warn("cannot remove old profiles", {{"problem", status.error().message}});
      }
    }
    guard.lock();
  }
}

void ServerApp::Running::stop(std::chrono::milliseconds grace) {
  ready = false;
  {
    const MutexLock guard(maintenance_lock);
    stopping = true;
  }
  maintenance_wake.notify_all();
  // All at once: the grace is for all of them together.
  std::thread ending_background([this] {
    if (scraper != nullptr) scraper->stop();
    if (maintenance.joinable()) maintenance.join();
    background_ended = true;
  });
  std::thread ending_grpc([this, grace] {
    if (grpc != nullptr) grpc->stop(grace);
  });
  if (http != nullptr) http->stop(grace);
  ending_grpc.join();
  ending_background.join();
  if (pool != nullptr) pool->stop();
  requests_ended = true;
  grpc.reset();
  http.reset();
  pool.reset();
  scraper.reset();
  files.reset();
  ingest.reset();
  if (engine != nullptr) {
    if (const Status status = engine->flush(); !status.ok()) {
      log.error("cannot sync the last writes", {{"problem", status.error().message}});
    }
  }
  engine.reset();
  audit.reset();
}

std::string ServerApp::Running::unfinished() const {
  if (requests_ended) return "closing the store";
  std::string text = dispatcher == nullptr ? "" : dispatcher->running().text();
  if (!background_ended)
    text += text.empty() ? "maintenance or scrapes" : ", maintenance or scrapes";
  return text.empty() ? "connections" : text;
}

}  // namespace vesta::server
