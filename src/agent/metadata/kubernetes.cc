#include "agent/metadata/kubernetes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <climits>
#include <cstdlib>

#include "agent/process/proc_files.h"
#include "base/mutex.h"
#include "net/http_client.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxTokenBytes = 64 * 1024;

std::string variable(const KubernetesOptions& options, const char* name) {
  if (options.environment) return options.environment(name);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes our environment.
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

// Where the API server is, by what every container of a pod is told; empty outside of one.
std::string api_server_of_pod(const KubernetesOptions& options) {
  std::string host = variable(options, "KUBERNETES_SERVICE_HOST");
  const std::string port = variable(options, "KUBERNETES_SERVICE_PORT");
  if (host.empty()) return "";
  if (host.find(':') != std::string::npos) host = fmt::format("[{}]", host);
  return fmt::format("https://{}:{}", host, port.empty() ? "443" : port);
}

std::string url_of(const KubernetesConfig& config, const KubernetesOptions& options) {
  if (!config.enabled) return "";
  if (!config.kubelet.empty()) return without_slash(config.kubelet) + "/pods";
  std::string server =
      config.api_server.empty() ? api_server_of_pod(options) : without_slash(config.api_server);
  if (server.empty()) return "";
  // resourceVersion=0: from the server's memory; its database need not be asked by every node.
  return fmt::format("{}/api/v1/pods?fieldSelector=spec.nodeName%3D{}&resourceVersion=0", server,
                     percent_encode(node_name(config, options)));
}

std::string why_disabled(const KubernetesConfig& config) {
  return config.enabled ? "not in a pod, and no kubelet or API server is configured" : "disabled";
}

Error refused(const HttpAnswer& answer) {
  Error error{ErrorCode::kIo, fmt::format("status {}", answer.status), ""};
  if (answer.status == 401 || answer.status == 403) {
    error.code = ErrorCode::kPermission;
    error.hint = "allow the service account to list pods (API server) or nodes/proxy (kubelet)";
  }
  return error;
}

}  // namespace

std::string node_name(const KubernetesConfig& config, const KubernetesOptions& options) {
  if (!config.node.empty()) return config.node;
  for (const char* const name : {"NODE_NAME", "K8S_NODE_NAME"}) {
    std::string value = variable(options, name);
    if (!value.empty()) return value;
  }
  std::array<char, HOST_NAME_MAX + 1> host{};
  ::gethostname(host.data(), host.size() - 1);
  return host.data();
}

Kubernetes::Kubernetes(KubernetesConfig config, KubernetesOptions options)
    : config_(std::move(config)),
      options_(std::move(options)),
      url_(url_of(config_, options_)),
      pods_(std::make_shared<PodIndex>()) {
  stats_.is_enabled = is_enabled();
  stats_.source = url_;
  if (is_enabled()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  } else {
    stats_.last_error = why_disabled(config_);
  }
}

Kubernetes::~Kubernetes() = default;

std::shared_ptr<const PodIndex> Kubernetes::pods() const {
  const MutexLock lock(mutex_);
  return pods_;
}

void Kubernetes::look_again() {
  {
    const MutexLock lock(mutex_);
    is_wanted_ = true;
  }
  wake_.notify_all();
}

KubernetesStats Kubernetes::stats() const {
  const MutexLock lock(mutex_);
  return stats_;
}

void Kubernetes::work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const Clock::time_point start = Clock::now();
    {
      // Who asks while the list is under way may mean what is not in it.
      const MutexLock lock(mutex_);
      is_wanted_ = false;
    }
    Result<PodIndex> list = fetch(stop);
    MutexLock lock(mutex_);
    ++stats_.requests;
    list ? accept(std::move(list).value()) : note_failure(list.error());
    wake_.wait_until(lock, stop, start + options_.interval,
                     [&]() REQUIRES(mutex_) { return is_wanted_; });
    wake_.wait_until(lock, stop, start + options_.min_interval, [] { return false; });
  }
}

void Kubernetes::accept(PodIndex list) {
  list.version = pods_->version + 1;
  stats_.pods = list.pod_count();
  stats_.containers = list.container_count();
  stats_.left_out = list.left_out();
  stats_.last_error.clear();
  pods_ = std::make_shared<const PodIndex>(std::move(list));
}

// What was known stays: pods do not go because nobody answers.
void Kubernetes::note_failure(const Error& error) {
  ++stats_.failures;
  stats_.last_error =
      error.hint.empty() ? error.message : fmt::format("{}; {}", error.message, error.hint);
}

Result<PodIndex> Kubernetes::fetch(const std::stop_token& stop) const {
  HttpCall call;
  call.url = url_;
  call.max_bytes = options_.max_bytes;
  call.connect_timeout = std::min(options_.timeout, std::chrono::milliseconds(5'000));
  call.timeout = options_.timeout;
  // The token is for this address alone.
  call.follow_redirects = false;
  call.is_cancelled = [&] { return stop.stop_requested(); };
  if (!config_.ca_file.empty() && ::access(config_.ca_file.c_str(), R_OK) == 0)
    call.ca_file = config_.ca_file;
  // Read each time: tokens are replaced before they expire. Never over a line that others can read.
  if (url_.starts_with("https://") && !config_.token_file.empty()) {
    const auto token = read_small_file(AT_FDCWD, config_.token_file.c_str(), kMaxTokenBytes);
    if (token) {
      std::string text = *token;
      while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
        text.pop_back();
      if (!text.empty()) call.headers.emplace_back("Authorization", "Bearer " + text);
    }
  }
  call.headers.emplace_back("Accept", "application/json");
  const auto answer = http_call(call);
  if (!answer) return with_context(answer.error(), "Kubernetes");
  if (answer->status != 200) return with_context(refused(*answer), "Kubernetes");
  auto list = PodIndex::parse(answer->body);
  if (!list) return with_context(list.error(), "Kubernetes");
  return list;
}

}  // namespace vesta::agent
