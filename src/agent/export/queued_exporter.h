// An exporter with a queue on disk: take() queues, a thread of its own encodes and sends. Owns
// queue, codec, sender and thread. take() from one thread at a time, the rest from any.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "agent/export/codecs/payload.h"
#include "agent/export/exporter.h"
#include "agent/export/queue/batch_queue.h"
#include "agent/export/queue/export_clock.h"
#include "agent/export/uploader.h"
#include "base/mutex.h"

namespace vesta::agent {

class QueuedExporter final : public Exporter {
 public:
  // The clock must outlive it.
  QueuedExporter(std::string name, std::unique_ptr<BatchQueue> queue,
                 std::unique_ptr<PayloadCodec> codec, std::unique_ptr<Sender> sender,
                 const UploaderOptions& options, const ExportClock& clock);
  // What is being sent is given up and stays in the queue; flush() first to wait for it.
  ~QueuedExporter() override;

  const std::string& name() const override { return name_; }
  Status take(const ProfileBatch& batch) override;
  ExporterStats stats() const override;
  void flush(std::chrono::steady_clock::time_point deadline) override;

 private:
  void run();

  const std::string name_;
  const std::unique_ptr<BatchQueue> queue_;
  const std::unique_ptr<PayloadCodec> codec_;
  const std::unique_ptr<Sender> sender_;
  const ExportClock& clock_;
  Uploader uploader_;  // its step() on the thread only

  mutable Mutex lock_;
  CondVar changed_;
  bool stopping_ GUARDED_BY(lock_) = false;
  uint64_t flushes_asked_ GUARDED_BY(lock_) = 0;
  uint64_t flushes_done_ GUARDED_BY(lock_) = 0;
  uint64_t taken_ GUARDED_BY(lock_) = 0;
  std::map<std::string, uint64_t> not_queued_ GUARDED_BY(lock_);  // by reason

  std::thread thread_;
};

}  // namespace vesta::agent
