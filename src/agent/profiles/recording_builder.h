// The profiles of a recording: all samples in one group, labelled with their process, and with
// their thread on request. Refers to the symbolizer, which must outlive it. Used by one thread at a
// time; coverage() may be read from any.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "agent/naming/symbolizer.h"
#include "agent/profiles/profile_builder.h"
#include "base/mutex.h"

namespace vesta::agent {

struct RecordingBuilderOptions {
  std::vector<ProbeRequest> probes = default_probes();
  std::vector<uint64_t> periods;  // of the probes
  bool per_thread = false;        // label samples with thread id and name
  bool process_frames =
      false;  // the process is the outermost frame: for recordings of a whole host
  std::vector<ProfileRequest> profiles = {};  // empty: one for each probe
};

class RecordingBuilder {
 public:
  RecordingBuilder(Symbolizer& symbolizer, RecordingBuilderOptions options);

  void add(const ResolvedSamples& samples);
  StackCoverage coverage() const;

  // What was added so far; may not be used again. `troubles` cost no sample, but are told with it.
  ProfileBatch finish(int64_t start_unix_ns, int64_t duration_ns,
                      const std::vector<std::pair<std::string, uint64_t>>& troubles = {});

 private:
  struct ThreadKey {
    uint32_t process = 0;
    uint32_t tid = 0;
    friend bool operator==(const ThreadKey&, const ThreadKey&) = default;
  };
  struct ThreadKeyHash {
    size_t operator()(const ThreadKey& key) const {
      return std::hash<uint64_t>()(uint64_t{key.process} << 32 | key.tid);
    }
  };

  LabelSetId labels_of(const ResolvedSample& sample);
  void put_program_first();

  Symbolizer& symbolizer_;
  const RecordingBuilderOptions options_;
  ProfileBuilder builder_;
  ProfileGroup group_;
  struct ThreadLabels {
    std::string name;  // which a thread may change
    LabelSetId id;
  };
  std::unordered_map<ThreadKey, ThreadLabels, ThreadKeyHash> label_sets_;
  std::unordered_map<uint32_t, std::shared_ptr<const SampledProcess>> processes_;
  std::unordered_map<uint32_t, uint64_t> sampled_processes_;  // samples of each
  mutable Mutex mutex_;
  StackCoverage coverage_ GUARDED_BY(mutex_);
};

}  // namespace vesta::agent
