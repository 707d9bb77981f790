#include <array>
#include <cstdlib>

#include "ingest/test_engine.h"
#include "server/ingest/multipart.h"
#include "server/ingest/test_server.h"

namespace {

using vesta::server::Fields;
using vesta::server::HttpResponse;

struct Door {
  std::string_view path;
  Fields query;
  std::string_view content_type;
  bool is_call = false;
};

// The first byte chooses the way in, the rest is the body.
const std::array kDoors = {
    Door{"/ingest", {{"name", "app.cpu{a=b}"}}, ""},
    Door{"/ingest", {{"name", "app"}, {"format", "lines"}}, ""},
    Door{"/ingest", {{"name", "app"}, {"format", "tree"}}, ""},
    Door{"/ingest", {{"name", "app"}, {"format", "trie"}}, ""},
    Door{"/ingest", {{"name", "app"}, {"format", "speedscope"}}, ""},
    Door{"/ingest", {{"name", "app"}, {"format", "jfr"}}, ""},
    Door{"/ingest", {{"name", "app"}, {"format", "pprof"}, {"spyName", "rbspy"}}, ""},
    Door{"/ingest", {{"name", "app"}}, "multipart/form-data; boundary=b"},
    Door{"/ingest", {{"name", "app"}, {"format", "jfr"}}, "multipart/form-data; boundary=b"},
    Door{"/push.v1.PusherService/Push", {}, "", true},
    Door{"/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw", {}, "", true},
    Door{"/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export",
         {},
         "",
         true},
    Door{"/v1development/profiles", {}, "application/json"},
    Door{"/api/v1/profiles", {{"delta", "true"}}, ""},
    Door{"/profiles/writeraw", {}, "application/json"},
};

// Consistent whatever came in, and labelled.
class CheckingEngine : public vesta::test::RecordingEngine {
 public:
  vesta::Result<vesta::WriteReceipt> write(std::string_view tenant,
                                           const vesta::ProfileBatch& batch,
                                           const vesta::WriteOptions& options) override {
    if (!vesta::find_inconsistency(batch).empty()) std::abort();
    for (const vesta::Profile& profile : batch.profiles) {
      if (profile.sample_types.empty() || !profile.resource) std::abort();
      for (const int64_t value : profile.samples.values) {
        if (value < 0) std::abort();
      }
    }
    return RecordingEngine::write(tenant, batch, options);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  CheckingEngine engine;
  engine.keep = false;
  vesta::IngestOptions options;
  options.limits.max_decoded_bytes = 1 << 20;
  options.limits.max_stack_depth = 64;
  options.limits.max_series_per_profile = 4;
  options.limits.max_age_ns = 0;
  options.max_delta_bytes = 1 << 20;
  vesta::server::test::IngestServer server(engine, options);
  const Door& door = kDoors[data[0] % kDoors.size()];
  const std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (door.is_call) {
    (void)server.call(door.path, body);
    return 0;
  }
  const HttpResponse response = server.post(door.path, door.query, body, door.content_type);
  if (response.status == 404 || response.status == 500) std::abort();
  return 0;
}
