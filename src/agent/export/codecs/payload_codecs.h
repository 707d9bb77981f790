// The codecs, one for each protocol. See payload.h for threads and ownership; codecs have no state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "agent/export/codecs/payload.h"
#include "base/result.h"

namespace vesta::agent {

// How much of one batch goes into one payload, uncompressed; a single profile may be larger.
inline constexpr size_t kPayloadBytes = size_t{1} << 20;

// An ExportProfilesServiceRequest.
std::unique_ptr<PayloadCodec> make_otlp_codec(std::string_view version,
                                              size_t payload_bytes = kPayloadBytes);
// An ExportLogsServiceRequest: a ResourceLogs for each profile, a record for each sample.
std::unique_ptr<PayloadCodec> make_otlp_logs_codec(std::string_view version,
                                                   size_t payload_bytes = kPayloadBytes);
// A push.v1.PushRequest with a series for each profile; gzip is inside, around each pprof.
std::unique_ptr<PayloadCodec> make_push_codec(size_t payload_bytes = kPayloadBytes);

// One profile each, with what a sender needs besides its bytes.
struct SingleProfile {
  std::string name;     // of `/ingest`: "service{label=value}"; of files: the file's
  int64_t from_ns = 0;  // Unix time
  int64_t until_ns = 0;
  int64_t period_ns = 0;  // of CPU time; 0 = it has none
  std::string family;     // "process_cpu"
  std::string pprof;      // gzip
};
std::string encode_single(const SingleProfile& profile);
Result<SingleProfile> decode_single(std::string_view payload);
std::unique_ptr<PayloadCodec> make_pyroscope_ingest_codec();
std::unique_ptr<PayloadCodec> make_file_codec();

}  // namespace vesta::agent
