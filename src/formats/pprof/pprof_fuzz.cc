#include <cstdint>
#include <cstdlib>

#include "formats/pprof/reader.h"
#include "formats/pprof/writer.h"

namespace vesta {
namespace {

void check(std::string_view bytes) {
  looks_like_pprof(bytes);
  ReadOptions options;
  options.allow_negative = true;
  options.keep_timestamps = true;
  const Result<ProfileBatch> batch = read_pprof(bytes, options);
  if (!batch) return;
  if (!find_inconsistency(*batch).empty()) std::abort();
  // What we write, we read, and nothing is lost on the way.
  const std::string written = write_pprof(*batch);
  const Result<ProfileBatch> again = read_pprof(written, options);
  if (!again || !find_inconsistency(*again).empty()) std::abort();
  const Profile& before = batch->profiles.front();
  const Profile& after = again->profiles.front();
  if (before.samples.values != after.samples.values) std::abort();
  if (before.default_type != after.default_type || before.losses.size() != after.losses.size())
    std::abort();
}

}  // namespace
}  // namespace vesta

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vesta::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
