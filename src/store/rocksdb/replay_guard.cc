#include "store/rocksdb/replay_guard.h"

#include <fmt/format.h>
#include <rocksdb/write_batch.h>

#include <cstring>

namespace vesta::rocks {

rocksdb::WalFilter::WalProcessingOption ReplayGuard::LogRecordFound(
    unsigned long long /*log*/, const std::string& name, const rocksdb::WriteBatch& batch,
    rocksdb::WriteBatch* /*new_batch*/, bool* /*changed*/) {
  // A batch starts with its sequence number, little-endian; each entry takes one.
  uint64_t first = 0;
  if (batch.Data().size() >= sizeof(first)) std::memcpy(&first, batch.Data().data(), sizeof(first));
  if (has_hole_ || (next_ != 0 && first != next_)) {
    has_hole_ = true;
    dropped_bytes_ += batch.Data().size();
    return WalProcessingOption::kStopReplay;
  }
  next_ = first + batch.Count();
  last_log_ = name;
  return WalProcessingOption::kContinueProcessing;
}

void ReplayGuard::note_dropped(uint64_t bytes, std::string_view reason) {
  dropped_bytes_ += bytes;
  if (reason_.empty()) reason_ = reason;
}

std::string ReplayGuard::report() const {
  if (has_hole_) {
    return fmt::format(
        "the write-ahead log has a gap{}{}: {} bytes after it were not replayed, and the profiles "
        "in them are lost; everything acknowledged before is available",
        last_log_.empty() ? "" : " of " + last_log_, reason_.empty() ? "" : " (" + reason_ + ")",
        dropped_bytes_);
  }
  if (dropped_bytes_ == 0) return "";
  return fmt::format(
      "cannot read the last {} bytes of the write-ahead log ({}): after a power cut this is an "
      "unacknowledged write; otherwise the log is damaged, and the last acknowledged profiles are "
      "lost; everything before is available",
      dropped_bytes_, reason_);
}

}  // namespace vesta::rocks
