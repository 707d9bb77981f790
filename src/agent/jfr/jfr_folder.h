// Watches folders for JFR recordings, reads those that are finished, and hands each on as profiles.
// Has a thread of its own, which sleeps while nothing happens; stop() and the destructor end it.
// What was handed on is remembered across restarts. When the process is killed after a recording
// was handed on and before that is noted, the recording is handed on again: stores know it by its
// content. Functions may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/jfr/recording_file.h"
#include "base/result.h"
#include "formats/common/read_options.h"
#include "profile/profile.h"

namespace vesta::agent {

struct JfrFolderOptions {
  std::vector<std::string> input_dirs = {"/var/log/jfr"};
  bool recursive = true;
  std::string state_file;  // of what was shipped; empty = forgotten with the process
  RecordingOwner owner;
  ReadOptions limits = default_limits();

  // A file without a writer that we know of is taken when it is whole and has not changed for so
  // long; when it is not whole, much later.
  std::chrono::milliseconds settle{2000};
  std::chrono::milliseconds give_up{600'000};
  // After the callback failed; doubled up to the second.
  std::chrono::milliseconds first_retry{1000};
  std::chrono::milliseconds last_retry{60'000};
  // How often to look where the kernel tells nothing (network file systems, too few watches).
  std::chrono::milliseconds look_again{30'000};
  size_t max_waiting = 20'000;  // files that are there but not yet taken; others wait for a scan

  // What a person should know: a file that cannot be read, once, with the reason.
  std::function<void(const Error&)> report;

  static ReadOptions default_limits() {
    ReadOptions limits;
    limits.max_input_bytes = uint64_t{512} << 20;
    limits.max_decoded_bytes = uint64_t{512} << 20;
    limits.max_samples = 20'000'000;
    return limits;
  }
};

struct JfrFolderStats {
  uint64_t files_shipped = 0;
  uint64_t profiles_shipped = 0;
  uint64_t bytes_read = 0;
  uint64_t files_known = 0;      // not shipped again: same content under another name or time
  uint64_t files_broken = 0;     // cannot be read
  uint64_t ship_failures = 0;    // the callback's; tried again
  uint64_t note_failures = 0;    // could not be remembered
  uint64_t queue_overflows = 0;  // of the kernel's events; scanned again
  uint64_t files_waiting = 0;    // now: being written, or to be tried again
  uint64_t files_remembered = 0;
  uint64_t folders_watched = 0;
  uint64_t folders_not_watched = 0;  // too many; looked at now and then
  std::string last_error;
};

class JfrFolder {
 public:
  using Ship = std::function<Status(ProfileBatch)>;

  // `ship` is called on the folder's thread. What it fails to take is offered again later.
  static Result<std::unique_ptr<JfrFolder>> start(const JfrFolderOptions& options, Ship ship);
  ~JfrFolder();
  JfrFolder(const JfrFolder&) = delete;
  JfrFolder& operator=(const JfrFolder&) = delete;

  // Returns when the thread has ended; a recording that is being read is finished first.
  void stop();
  JfrFolderStats stats() const;

 private:
  struct Parts;
  explicit JfrFolder(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace vesta::agent
