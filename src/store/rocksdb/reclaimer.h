// Gives the disk back what deletions left there. A deletion only writes that something is gone; the
// bytes go when the files that hold them are dropped as a whole or written again. One pass at a
// time; from any thread. Must not outlive the store.
#pragma once

#include <atomic>

#include "base/mutex.h"
#include "store/rocksdb/store.h"

namespace vesta::rocks {

class Reclaimer {
 public:
  explicit Reclaimer(Store& store) : store_(store) {}

  // Notes what an earlier process deleted and did not come to.
  void find_left_over();

  // Until all that is noted so far is free. `gently`: rests as long as it works, so that others
  // find the disk free half of the time.
  Status run(bool gently);
  // Ends a run that is under way, and makes later ones do nothing.
  void stop();

  uint64_t pending() const { return store_.garbage.size() + running_.load(); }

 private:
  Status reclaim(std::vector<Garbage::Stretch>& stretches, bool gently);
  Status drop_files(Garbage::Stretch& stretch);
  Status compact(const Garbage::Stretch& stretch, bool gently);
  Status compact_piece(Family family, std::string_view from, std::string_view to, bool gently);

  Store& store_;
  Mutex pass_;
  std::atomic<bool> stopped_ = false;
  std::atomic<uint64_t> running_ = 0;
  Mutex rest_mutex_;
  CondVar rest_;
};

// So many ranges were deleted since the last time that reads begin to feel them: memory is written
// to files, where they cost little.
void flush_range_deletions(Store& store, uint64_t added);

}  // namespace vesta::rocks
