// Names samples and adds them up into a profile. Owns the growing dictionary; the symbolizer must
// outlive it. Used by one thread at a time; coverage() may be read from any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/recording/cpu_profile.h"
#include "agent/recording/resolved_samples.h"
#include "agent/recording/stack_builder.h"
#include "agent/recording/symbolizer.h"
#include "profile/dictionary_builder.h"
#include "profile/profile.h"
#include "profile/sample_table.h"

namespace vesta {

struct ProfileBuilderOptions {
  bool per_thread = false;  // label samples with thread id and name
  bool process_frames =
      false;  // the process is the outermost frame: for recordings of a whole host
  uint64_t period_ns = 0;
};

// How much of what was sampled is whole and has names.
struct Coverage {
  uint64_t samples = 0;
  uint64_t user_stacks = 0;   // samples with a user stack
  uint64_t whole_stacks = 0;  // of those, the ones that reach the outermost frame
  uint64_t frames = 0;
  uint64_t named_frames = 0;
  uint64_t decoded_frames = 0;  // see ResolvedSample
  uint64_t guessed_frames = 0;
};

class ProfileBuilder {
 public:
  ProfileBuilder(Symbolizer& symbolizer, const ProfileBuilderOptions& options);

  void add(const ResolvedSamples& samples);
  // Events that left no stack, as samples under a frame that names the reason, so that totals stay
  // true.
  void add_lost(std::string_view reason, uint64_t count);
  // Something to be told with the profile that cost no sample.
  void add_loss(std::string_view reason, uint64_t count);

  Coverage coverage() const;

  // The profile so far; the builder is empty afterwards and may not be used again.
  ProfileBatch finish(int64_t start_unix_ns, int64_t duration_ns);

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

  void add_sample(const ResolvedSample& sample, std::span<const CodeAddress> frames);
  LabelSetId labels_of(const ResolvedSample& sample);
  void put_program_first();

  Symbolizer& symbolizer_;
  const ProfileBuilderOptions options_;
  std::unique_ptr<ProfileBatch> batch_ = std::make_unique<ProfileBatch>();
  StackBuilder stacks_;
  DictionaryBuilder& dictionary_;
  SampleTable samples_{kCpuTypes};
  std::unordered_map<ThreadKey, LabelSetId, ThreadKeyHash> label_sets_;
  std::unordered_map<uint32_t, std::shared_ptr<const SampledProcess>> processes_;
  std::unordered_map<uint32_t, uint64_t> sampled_processes_;  // samples of each
  UnwindResults results_{};
  std::vector<Loss> losses_;
  std::atomic<uint64_t> sample_count_{0};
  std::atomic<uint64_t> user_stacks_{0};
  std::atomic<uint64_t> whole_stacks_{0};
  std::atomic<uint64_t> frames_{0};
  std::atomic<uint64_t> named_frames_{0};
  std::atomic<uint64_t> decoded_frames_{0};
  std::atomic<uint64_t> guessed_frames_{0};
};

}  // namespace vesta
