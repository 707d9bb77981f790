// A profile of the last seconds, for as long as something looks at it: samples are named as they
// come and added up by stretches of time, of which the latest stay. add() runs on the sampling's
// thread, everything else on the owner's.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "agent/profiles/recording.h"
#include "base/mutex.h"
#include "base/result.h"
#include "profile/frame_profile.h"

namespace vesta::cli {

class LiveProfile final : public agent::SampleConsumer {
 public:
  // `stretches` stay; each ends when next() is called.
  LiveProfile(const agent::RecordingOptions& options, std::vector<uint64_t> periods,
              size_t stretches);

  void add(const agent::ResolvedSamples& samples) override;
  void release_pages() override;

  // Ends a stretch, which began `duration_ns` ago.
  void next(int64_t duration_ns);
  // From now on only.
  void clear() { stretches_.clear(); }

  struct Window {
    FrameProfile frames;
    int64_t duration_ns = 0;
    uint64_t samples = 0;
    agent::StackCoverage coverage;
    // Where a function is, by its name in the dictionary; empty for a name in several binaries.
    std::map<StringId, std::string> binaries;
  };
  // Of all stretches that are kept. An empty one when there is no sample in them.
  Result<Window> window(const FrameOptions& options) const;

 private:
  struct Stretch {
    ProfileBatch batch;
    int64_t duration_ns = 0;
    agent::StackCoverage coverage;
  };
  std::unique_ptr<agent::RecordingBuilder> make_builder() REQUIRES(mutex_);

  const agent::RecordingBuilderOptions options_;
  const size_t max_stretches_;
  Mutex mutex_;
  agent::Symbolizer symbolizer_ GUARDED_BY(mutex_);
  // Told of once, needed by every stretch.
  std::map<uint32_t, std::shared_ptr<const agent::SampledProcess>> processes_ GUARDED_BY(mutex_);
  std::unique_ptr<agent::RecordingBuilder> builder_ GUARDED_BY(mutex_);  // made of the two above
  std::deque<Stretch> stretches_;
};

}  // namespace vesta::cli
