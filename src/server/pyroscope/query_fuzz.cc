#include <push/v1/push.pb.h>

#include <cstdio>
#include <cstdlib>

#include "base/time.h"
#include "formats/folded/reader.h"
#include "server/pyroscope/routes.h"
#include "server/pyroscope/rpc_method.h"
#include "server/rpc/connect.h"
#include "store/memory/memory_engine.h"

namespace {

using namespace vesta;          // NOLINT(google-build-using-namespace)
using namespace vesta::server;  // NOLINT(google-build-using-namespace)

// All methods over a store with two profiles, and one that takes what clients push.
struct Server {
  Server() {
    auto batch = read_folded("main;work 10\nmain;work;query 5\nmain;idle 7\n", {});
    if (!batch) std::abort();
    batch->profiles[0].time_ns = 1'700'000'000'000'000'000;
    if (!engine->write("anonymous", *batch, {})) std::abort();
    PyroscopeQueryOptions options;
    options.clock = [] { return UnixNs(1'700'000'060 * kSecond); };
    add_pyroscope_query_routes(routes, *engine, options);
    using push::v1::PushRequest;
    using push::v1::PushResponse;
    routes.add(rpc_method<PushRequest, PushResponse>(
        "/push.v1.PusherService/Push", Scope::kWrite,
        [](const PushRequest&, const Caller&) -> Result<PushResponse> { return PushResponse(); }));
  }
  std::unique_ptr<Engine> engine = make_memory_engine();
  Routes routes;
};

}  // namespace

// The first byte chooses a method, the second a content type; the rest is the body. Whatever comes
// in, the answer is one of the protocol's, and what is said to be an answer can be read as one.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Server kServer;
  if (size < 2) return 0;
  const auto& methods = kServer.routes.rpc();
  HttpRequest request;
  request.method = "POST";
  request.headers = {{"content-type", data[1] % 2 == 0 ? "application/proto" : "application/json"}};
  request.body.assign(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (data[1] >= 128) request.headers.emplace_back("accept", request.body);
  const HttpResponse response = handle_connect(methods[data[0] % methods.size()], request, {});
  switch (response.status) {
    case 200:
    case 400:
    case 404:  // There are no recording rules.
    case 413:
    case 501:
      return 0;
    default:
      std::fprintf(stderr, "status %d: %s\n", response.status, response.body.c_str());
      std::abort();
  }
}
