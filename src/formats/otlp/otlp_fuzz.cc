#include <cstdlib>
#include <string_view>

#include "formats/otlp/reader.h"
#include "formats/otlp/writer.h"

namespace {

void check(const vesta::Result<vesta::ProfileBatch>& batch) {
  if (!batch) return;
  if (!vesta::find_inconsistency(*batch).empty()) abort();
  const std::string bytes = vesta::write_otlp(*batch);
  vesta::ReadOptions options;
  options.allow_negative = true;
  options.keep_timestamps = true;
  const auto again = vesta::read_otlp(bytes, options);
  if (!again) abort();
  if (!vesta::read_otlp_json(vesta::write_otlp_json(*batch), options)) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  vesta::ReadOptions options;
  vesta::looks_like_otlp(bytes);
  if (vesta::looks_like_otlp_json(bytes) || bytes.starts_with('{'))
    check(vesta::read_otlp_json(bytes, options));
  for (const bool keep : {false, true}) {
    options.keep_timestamps = keep;
    options.allow_negative = keep;
    check(vesta::read_otlp(bytes, options));
  }
  return 0;
}
