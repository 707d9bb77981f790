// Between protocols and the store: profiles come in as clients send them, are made uniform once
// (labels, types, times, deltas, limits), written, and only then acknowledged. Refers to the
// engine, which must outlive it. Any thread may write.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "formats/common/read_options.h"
#include "formats/jfr/reader.h"
#include "ingest/baseline_log.h"
#include "ingest/byte_rate.h"
#include "ingest/counters.h"
#include "ingest/delta_store.h"
#include "ingest/ingest_hints.h"
#include "ingest/limits.h"
#include "profile/profile.h"
#include "store/engine.h"

namespace vesta {

struct IngestOptions {
  TenantLimits limits;
  std::map<std::string, TenantLimits, std::less<>> tenant_limits;  // instead of `limits`
  uint64_t max_delta_bytes = uint64_t{64} << 20;  // last readings of cumulative profiles
  bool keep_timestamps = false;                   // of each sample, where the format has them
  bool keep_negative = false;                     // rows of differences; else dropped and counted
  bool collapse_go_generics = false;              // "F[go.shape.int]" is "F[...]"
  JavaNames java_names = JavaNames::kPyroscope;   // of recordings sent to Pyroscope's /ingest
  UnixClock clock;                                // the system's when empty
};

struct IngestReceipt {
  WriteReceipt stored;
  uint64_t baselines = 0;  // cumulative profiles whose counters were not stored: first readings
  uint64_t stale = 0;      // and those that are part of a later reading
  uint64_t rejected_profiles = 0;
  std::vector<Error> problems;  // of rejected profiles, the first few
};

class Ingest {
 public:
  Ingest(Engine& engine, IngestOptions options);

  // kInvalidInput names the field that is wrong; kLimit for too much at once, kTooMany for too much
  // lately (retry_after_s() says when), and whatever the engine says.
  Result<IngestReceipt> write(std::string_view tenant, ProfileBatch batch,
                              const IngestHints& hints);
  // After writes that were not durable.
  Status flush() { return engine_.flush(); }

  const TenantLimits& limits(std::string_view tenant) const;
  // What readers may take in for the tenant.
  ReadOptions read_options(std::string_view tenant) const;
  int64_t retry_after_s(std::string_view tenant) const { return rate_.retry_after_s(tenant); }
  int64_t now_ns() const;
  JavaNames java_names() const { return options_.java_names; }

  IngestCounters& counters() { return counters_; }
  uint64_t delta_bytes() const { return deltas_.byte_size(); }
  const BaselineLog& baselines() const { return baselines_; }

 private:
  struct Passage;
  struct SeriesCount {
    uint64_t series = 0;
    int64_t time_ns = 0;
  };

  Status normalise(Passage& passage);
  Status subtract_last_reading(Passage& passage);
  Status take_first_reading(Passage& passage, DeltaMode mode);
  Result<bool> stored_lately(const Passage& passage);
  Status split(Passage& passage);
  void tell_apart(Passage& passage);
  Status check_series_count(const Passage& passage);

  Engine& engine_;
  const IngestOptions options_;
  IngestCounters counters_;
  ByteRate rate_;
  DeltaStore deltas_;
  BaselineLog baselines_;
  std::atomic<uint64_t> next_offset_;  // see tell_apart()
  Mutex series_mutex_;
  std::map<std::string, SeriesCount, std::less<>> series_counts_ GUARDED_BY(series_mutex_);
};

}  // namespace vesta
