// From the agent straight into the store of the same process. What the store cannot take at the
// moment (a full disk) waits in memory, within a bound. take() may be called from any thread, one
// call at a time.
#pragma once

#include <deque>
#include <string>

#include "agent/export/exporter.h"
#include "base/mutex.h"
#include "ingest/ingest.h"

namespace vesta::agent {

class InProcessExporter final : public Exporter {
 public:
  // `ingest` must outlive it.
  explicit InProcessExporter(Ingest& ingest, size_t max_waiting = 360)
      : ingest_(ingest), max_waiting_(max_waiting) {}

  const std::string& name() const override { return name_; }
  Status take(const ProfileBatch& batch) override;
  ExporterStats stats() const override;
  void flush(std::chrono::steady_clock::time_point deadline) override;

 private:
  bool write(const ProfileBatch& batch);
  void write_waiting() REQUIRES(writing_);

  Ingest& ingest_;
  const size_t max_waiting_;
  const std::string name_ = "in-process";
  Mutex writing_;
  std::deque<ProfileBatch> waiting_ GUARDED_BY(writing_);
  mutable Mutex mutex_;
  ExporterStats stats_ GUARDED_BY(mutex_);
};

}  // namespace vesta::agent
