// ProfileEvent: one sample as a JSON text for setups that only have a logs pipeline, in the two
// shapes that are documented for it: the unified one, and that of JFR. Refers to the dictionary and
// the profile, which must outlive it. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace vesta::agent {

struct ProfileEvent {
  int64_t time_ns = 0;
  std::string event_type;
  std::string profile_type;
  int64_t sample_weight = 0;  // samples, bytes or nanoseconds, as the type has it
  int64_t duration_ns = 0;    // 0 = it is not about time
  int64_t total_samples = 0;  // of the profile
  double self_percent = 0;    // of the profile's own weight, never of other types
  std::string thread_name;
  int64_t thread_id = 0;
  std::string state;
  std::string object_class;   // of allocations
  std::string monitor_class;  // of locks
  std::string event_label;    // which of the events of a family: "ThreadPark"
  std::string comm;
  std::string top_function;
  std::string top_class;  // of the JVM
  std::string top_method;
  size_t stack_depth = 0;
  size_t kernel_frames = 0;
  bool is_resolved = false;  // every frame has a name
  std::string body;          // the JSON
};

class ProfileEvents {
 public:
  ProfileEvents(const Dictionary& dictionary, const Profile& profile);

  // Whether the profile comes from a JFR recording: its resource says so (`profile.source`), or its
  // frames are those of a JVM and have no addresses, which no profiler of machine code gives.
  bool is_jfr() const { return is_jfr_; }
  ProfileEvent event(size_t row) const;

 private:
  struct Frame;
  bool comes_from_jfr() const;
  void find_types();
  void set_labels(size_t row, ProfileEvent& event) const;
  std::vector<Frame> frames_of(StackId stack) const;
  std::string body(const ProfileEvent& event, const std::vector<Frame>& frames) const;

  const Dictionary& dictionary_;
  const Profile& profile_;
  bool is_jfr_ = false;
  size_t weight_type_ = 0;
  size_t duration_type_ = SIZE_MAX;  // none
  size_t count_type_ = SIZE_MAX;
  int64_t total_samples_ = 0;
  int64_t total_weight_ = 0;
};

}  // namespace vesta::agent
