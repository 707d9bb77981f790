// The profiles that come out of a recording, one per family of events: names and types follow
// Pyroscope where it has them. Owns the samples until finish(). Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/dictionary_builder.h"
#include "profile/profile.h"
#include "profile/sample_table.h"

namespace vesta::jfr {

enum class Family : uint8_t {
  kCpu,
  kExecution,  // becomes kCpu unless the recording has true CPU-time samples as well
  kPerfEvent,
  kWall,
  kNative,
  kAllocationInNewTlab,
  kAllocationOutsideTlab,
  kAllocationSample,
  kLive,
  kOldObjects,
  kMalloc,
  kInUse,
  kMutex,  // monitors that another thread holds, as in Pyroscope
  kBlock,  // parked threads, as in Pyroscope
  kNativeLock,
  kMonitorWait,
  kThreadSleep,
  kIo,
  kGc,
  kGcPause,
  kGcConcurrent,
  kCount,
};

// A name per column, and how the recording measures it.
struct FamilySpec {
  std::string_view name;
  std::array<std::string_view, 3> types;
  std::array<std::string_view, 3> units;
  std::string_view period_type;
  std::string_view period_unit;
  size_t type_count() const { return types[2].empty() ? (types[1].empty() ? 1 : 2) : 3; }
};

const FamilySpec& family_spec(Family family);

// What all profiles of a recording share.
struct RecordingInfo {
  int64_t time_ns = 0;
  int64_t duration_ns = 0;
  LabelSetId resource;
  std::string perf_event;  // what kPerfEvent counts
};

class Families {
 public:
  Families();

  // REQUIRES: as many values as the family has types
  void add(Family family, StackId stack, std::span<const int64_t> values, LabelSetId labels,
           LinkId link, int64_t time_ns) {
    tables_[static_cast<size_t>(family)].add(stack, values, labels, link, time_ns);
  }
  void add_loss(Family family, std::string_view reason, uint64_t count);
  void set_period(Family family, int64_t period);
  size_t row_count() const;

  // Profiles of the families that have samples or losses, in the order of the enumeration.
  std::vector<Profile> finish(DictionaryBuilder& builder, const RecordingInfo& info);

 private:
  struct NamedLoss {
    std::string_view reason;
    uint64_t count;
  };
  static constexpr size_t kFamilies = static_cast<size_t>(Family::kCount);

  std::vector<SampleTable> tables_;
  std::array<std::vector<NamedLoss>, kFamilies> losses_;
  std::array<int64_t, kFamilies> periods_{};
};

}  // namespace vesta::jfr
