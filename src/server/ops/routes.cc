#include "server/ops/routes.h"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <memory>

namespace vesta::server {
namespace {

constexpr int64_t kDefaultSeconds = 30;
constexpr int64_t kMaxSeconds = 300;

HttpResponse text_response(std::string body, int status = 200) {
  HttpResponse response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(body);
  return response;
}

// As Go's net/http/pprof has it: errors are plain text that `go tool pprof` shows.
class SelfProfile {
 public:
  explicit SelfProfile(std::function<Result<std::string>(std::chrono::seconds)> profile)
      : profile_(std::move(profile)) {}

  HttpResponse operator()(const HttpRequest& request, const Caller& /*caller*/) const {
    int64_t seconds = kDefaultSeconds;
    if (const auto word = request.find_parameter("seconds")) {
      const auto [end, error] = std::from_chars(word->data(), word->data() + word->size(), seconds);
      if (error != std::errc() || end != word->data() + word->size() || seconds < 1 ||
          seconds > kMaxSeconds) {
        return text_response(
            fmt::format("seconds must be a whole number from 1 to {}\n", kMaxSeconds), 400);
      }
    }
    if (!profile_) return text_response("this server cannot profile itself\n", 501);
    if (busy_->exchange(true)) {
      return text_response("another profile is in progress; try again later\n", 429);
    }
    auto profile = profile_(std::chrono::seconds(seconds));
    busy_->store(false);
    if (!profile) {
      const Error& error = profile.error();
      return text_response(error.message + (error.hint.empty() ? "" : "; " + error.hint) + "\n",
                           error.code == ErrorCode::kPermission ? 403 : 501);
    }
    HttpResponse response;
    response.content_type = "application/octet-stream";
    response.headers.emplace_back("Content-Disposition", "attachment; filename=\"profile.pb.gz\"");
    response.body = std::move(*profile);
    response.compressible = false;
    return response;
  }

 private:
  std::function<Result<std::string>(std::chrono::seconds)> profile_;
  std::shared_ptr<std::atomic<bool>> busy_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

void add_ops_routes(Routes& routes, const OpsParts& parts) {
  const auto get = [&routes](std::string path, Scope scope, HttpHandler handler) {
    routes.add(HttpRoute{"GET", std::move(path), scope, std::move(handler)});
  };
  get("/healthz", Scope::kNone,
      [needs_restart = parts.needs_restart](const HttpRequest&, const Caller&) {
        const std::string why = needs_restart();
        if (why.empty()) return text_response("ok\n");
        return text_response(why + "; restart the server\n", 503);
      });
  get("/ready", Scope::kNone, [ready = parts.is_ready](const HttpRequest&, const Caller&) {
    return ready() ? text_response("ready\n") : text_response("not ready\n", 503);
  });
  get("/metrics", parts.metrics_scope,
      [metrics = parts.metrics_text](const HttpRequest&, const Caller&) {
        HttpResponse response = text_response(metrics());
        response.content_type = "text/plain; version=0.0.4; charset=utf-8";
        return response;
      });
  get("/debug/pprof/profile", Scope::kAdmin, SelfProfile(parts.cpu_profile));
  get("/debug/pprof/cmdline", Scope::kAdmin,
      [words = parts.command_line](const HttpRequest&, const Caller&) {
        return text_response(words);
      });
  // Symbols are in the profile; pprof asks all the same.
  for (const char* method : {"GET", "POST"}) {
    routes.add(HttpRoute{
        method, "/debug/pprof/symbol", Scope::kAdmin,
        [](const HttpRequest&, const Caller&) { return text_response("num_symbols: 1\n"); }});
  }
  for (const char* kind : {"heap", "allocs", "goroutine", "block", "mutex", "threadcreate"}) {
    get(std::string("/debug/pprof/") + kind, Scope::kAdmin,
        [kind](const HttpRequest&, const Caller&) {
          return text_response(
              fmt::format("unknown profile {}; only /debug/pprof/profile is available\n", kind),
              404);
        });
  }
}

}  // namespace vesta::server
