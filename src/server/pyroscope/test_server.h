// A small server without a network, for tests: an engine in memory, Pyroscope's routes, and calls
// to them as clients make them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/files/file_shelf.h"
#include "server/kept/kept_files.h"
#include "server/pyroscope/routes.h"
#include "server/rpc/connect.h"
#include "store/memory/memory_engine.h"
#include "store/testing/stored_profiles.h"
#include "testing/temporary_folder.h"

namespace vesta::server::test {

using vesta::test::kCpuType;
using vesta::test::kHeapType;
using vesta::test::kSecondNs;
using vesta::test::kStartNs;
using vesta::test::ProfileSpec;
using vesta::test::SampleSpec;

inline constexpr int64_t kStartMs = kStartNs / 1'000'000;

class TestServer {
 public:
  explicit TestServer(PyroscopeQueryOptions options = {}) {
    options.clock = [] { return UnixNs(kStartNs + 10 * kMinute); };
    options.settings = settings_.get();
    options.uploads = uploads_.get();
    options.debug_info = debug_info_.get();
    options.files = &files_;
    add_pyroscope_query_routes(routes_, *engine_, options);
  }

  Engine& engine() { return *engine_; }
  void write(const std::vector<ProfileSpec>& specs, std::string_view tenant = "anonymous") {
    const auto receipt = engine_->write(tenant, vesta::test::batch_of(specs), {});
    ASSERT_TRUE(receipt) << receipt.error().message;
  }

  HttpResponse post(std::string_view path, std::string content_type, std::string body,
                    Fields headers = {}, const Caller& caller = {}) const {
    HttpRequest request;
    request.method = "POST";
    request.path = path;
    request.headers = std::move(headers);
    request.headers.emplace_back("content-type", std::move(content_type));
    request.body = std::move(body);
    for (const RpcMethod& method : routes_.rpc()) {
      if (method.path == path) return handle_connect(method, request, caller);
    }
    ADD_FAILURE() << "no method " << path;
    return {};
  }
  HttpResponse querier(std::string_view method, std::string content_type, std::string body,
                       Fields headers = {}, const Caller& caller = {}) const {
    return post("/querier.v1.QuerierService/" + std::string(method), std::move(content_type),
                std::move(body), std::move(headers), caller);
  }
  // The answer to a call in protobuf; the test fails when there is none.
  template <class Response, class Request>
  Response call(std::string_view method, const Request& request, const Fields& headers = {},
                const Caller& caller = {}) const {
    const HttpResponse response =
        querier(method, "application/proto", request.SerializeAsString(), headers, caller);
    Response message;
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_TRUE(message.ParseFromString(response.body));
    return message;
  }
  template <class Request>
  int status(std::string_view method, const Request& request) const {
    return querier(method, "application/proto", request.SerializeAsString()).status;
  }
  std::string json(std::string_view method, std::string body, Fields headers = {}) const {
    return querier(method, "application/json", std::move(body), std::move(headers)).body;
  }

  HttpResponse get(std::string_view path, Fields query) const {
    HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.query = std::move(query);
    for (const HttpRoute& route : routes_.http()) {
      if (route.path == path) return route.handler(request, {});
    }
    ADD_FAILURE() << "no route " << path;
    return {};
  }
  const Routes& routes() const { return routes_; }

 private:
  std::unique_ptr<KeptFiles> kept(const std::string& name) const {
    auto files = KeptFiles::open(folder_.path(name), {100, 1 << 20, 1 << 20});
    EXPECT_TRUE(files) << files.error().message;
    return std::move(*files);
  }

  TemporaryFolder folder_;
  std::unique_ptr<KeptFiles> settings_ = kept("settings");
  std::unique_ptr<KeptFiles> uploads_ = kept("uploads");
  std::unique_ptr<KeptFiles> debug_info_ = kept("debug-info");
  FileShelf files_{FileShelf::Options()};
  std::unique_ptr<Engine> engine_ = make_memory_engine();
  Routes routes_;
};

// The profiles of a service that start at the given second: all samples in one.
// Of a moment: it covers no time.
inline ProfileSpec profile_of(std::string service, int64_t second, std::vector<SampleSpec> samples,
                              std::string_view type = kCpuType) {
  ProfileSpec spec;
  spec.type = type;
  spec.labels = {{"service_name", std::move(service)}};
  spec.time_ns = kStartNs + second * kSecondNs;
  spec.duration_ns = 0;
  spec.samples = std::move(samples);
  return spec;
}

}  // namespace vesta::server::test
