// Builds unwind tables in a thread of its own and hands them to the kernel, so that neither
// sampling nor draining waits for it. A copy of each recent table stays here for stacks that user
// space has to finish. Thread-safe; made and used by one owner thread, plus its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "agent/process/module_registry.h"
#include "agent/unwinding/kernel_maps.h"
#include "base/file.h"
#include "base/mutex.h"
#include "unwind/table_cache.h"
#include "unwind/unwind_table.h"

namespace vesta::agent {

struct TableLoaderOptions {
  uint64_t max_kernel_bytes = 48ULL << 20;  // of tables in the kernel
  uint64_t max_copy_bytes = 8ULL << 20;     // of tables kept here
};

class TableLoader {
 public:
  // `kernel` and `cache` may be null: then tables are only kept here, or never on disk.
  TableLoader(KernelTableMap* kernel, UnwindTableCache* cache, const TableLoaderOptions& options);
  ~TableLoader();
  TableLoader(const TableLoader&) = delete;
  TableLoader& operator=(const TableLoader&) = delete;

  // The table of a module if it is here, else null and it is on its way: `ready_fd` will tell. A
  // module that has no table, or whose file cannot be read, gets one with state
  // VESTA_MODULE_NO_TABLE. `slot` is where the kernel shall have it; ModuleSlots::kNoSlot for
  // nowhere.
  std::shared_ptr<const UnwindTable> get(const std::shared_ptr<const Module>& module,
                                         uint32_t slot);
  // Has the table built, and kept on disk, if that was never done: the module is mapped, and may be
  // sampled or not. A module whose table was here once costs nothing.
  void prepare(const std::shared_ptr<const Module>& module, uint32_t slot);
  // The slot belongs to another module from now on.
  void forget_slot(ModuleId module, uint32_t slot);
  // A sample went through this module: it is in use.
  void touch(ModuleId module);

  // Waits until everything that was asked for is here and in the kernel; false when the time is up.
  bool wait_until_idle(std::chrono::milliseconds limit);

  // Readable when tables were finished since the last clear_ready().
  int ready_fd() const { return ready_.get(); }
  void clear_ready();

  struct Statistics {
    uint64_t built = 0;
    uint64_t from_disk = 0;
    uint64_t unreadable = 0;  // the file is gone, or no ELF file that we can read
    uint64_t evicted = 0;     // from the kernel, to stay within max_kernel_bytes
    uint64_t refused = 0;     // the kernel did not take the table
    uint64_t kernel_bytes = 0;
    uint64_t copy_bytes = 0;
  };
  Statistics statistics() const;
  uint64_t cpu_ns() const;  // of its thread

 private:
  struct Entry {
    std::shared_ptr<const UnwindTable> table;  // null: not here
    UnwindTableCache::Key key;                 // on disk; without a name: not known to be there
    uint32_t slot = UINT32_MAX;
    bool requested = false;
    bool was_here = false;
    bool in_kernel = false;
    uint64_t kernel_bytes = 0;
    uint64_t last_use = 0;
  };
  struct Request {
    std::shared_ptr<const Module> module;
    uint32_t slot = UINT32_MAX;
  };

  void run(const std::stop_token& stop);
  void request(Entry& entry, const std::shared_ptr<const Module>& module, uint32_t slot)
      REQUIRES(lock_);
  // Sets `key`, or finds the table by it.
  std::shared_ptr<const UnwindTable> load(const Module& module, UnwindTableCache::Key& key);
  void take_in(const Request& request);
  void hand_to_kernel(std::span<const Request> requests);
  void make_room_in_kernel(uint64_t bytes);
  void trim_copies() REQUIRES(lock_);

  KernelTableMap* const kernel_;
  UnwindTableCache* const cache_;
  const TableLoaderOptions options_;
  UniqueFd ready_;
  mutable Mutex lock_;
  CondVar wake_;
  CondVar idle_;
  std::deque<Request> queue_ GUARDED_BY(lock_);
  bool is_busy_ GUARDED_BY(lock_) = false;
  std::unordered_map<ModuleId, Entry> entries_ GUARDED_BY(lock_);
  uint64_t use_clock_ GUARDED_BY(lock_) = 0;
  Statistics statistics_ GUARDED_BY(lock_);
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace vesta::agent
