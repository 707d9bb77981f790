#include "agent/unwinding/table_loader.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/process/elf_head.h"
#include "agent/unwinding/module_slots.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/thread_name.h"

namespace vesta::agent {
namespace {

// Of code whose tables are built before the kernel gets them.
constexpr uint64_t kBytesAtOnce = 8ULL << 20;

uint64_t code_bytes(const Module& module) {
  uint64_t sum = 0;
  for (const ElfHead::Segment& segment : module.code_segments()) sum += segment.file_bytes;
  return sum;
}

}  // namespace

TableLoader::TableLoader(KernelTableMap* kernel, UnwindTableCache* cache,
                         const TableLoaderOptions& options)
    : kernel_(kernel),
      cache_(cache),
      options_(options),
      ready_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

TableLoader::~TableLoader() {
  thread_.request_stop();
  wake_.notify_all();
}

std::shared_ptr<const UnwindTable> TableLoader::get(const std::shared_ptr<const Module>& module,
                                                    uint32_t slot) {
  const MutexLock guard(lock_);
  Entry& entry = entries_[module->id()];
  entry.last_use = ++use_clock_;
  const bool kernel_lacks_it = kernel_ != nullptr && slot != ModuleSlots::kNoSlot &&
                               (!entry.in_kernel || entry.slot != slot);
  if (entry.table == nullptr || kernel_lacks_it) request(entry, module, slot);
  return entry.table;
}

void TableLoader::prepare(const std::shared_ptr<const Module>& module, uint32_t slot) {
  const MutexLock guard(lock_);
  Entry& entry = entries_[module->id()];
  if (!entry.was_here) request(entry, module, slot);
}

void TableLoader::request(Entry& entry, const std::shared_ptr<const Module>& module,
                          uint32_t slot) {
  if (std::exchange(entry.requested, true)) return;
  queue_.push_back({module, slot});
  wake_.notify_one();
}

void TableLoader::forget_slot(ModuleId module, uint32_t slot) {
  if (kernel_ != nullptr) kernel_->mark_absent(slot);
  const MutexLock guard(lock_);
  const auto found = entries_.find(module);
  if (found == entries_.end() || found->second.slot != slot) return;
  if (found->second.in_kernel) statistics_.kernel_bytes -= found->second.kernel_bytes;
  found->second.in_kernel = false;
  found->second.slot = ModuleSlots::kNoSlot;
}

void TableLoader::touch(ModuleId module) {
  const MutexLock guard(lock_);
  const auto found = entries_.find(module);
  if (found != entries_.end()) found->second.last_use = ++use_clock_;
}

bool TableLoader::wait_until_idle(std::chrono::milliseconds limit) {
  MutexLock guard(lock_);
  return idle_.wait_for(guard, limit,
                        [this]() REQUIRES(lock_) { return queue_.empty() && !is_busy_; });
}

void TableLoader::clear_ready() {
  uint64_t count = 0;
  (void)!::read(ready_.get(), &count, sizeof(count));
}

TableLoader::Statistics TableLoader::statistics() const {
  const MutexLock guard(lock_);
  return statistics_;
}

void TableLoader::run(const std::stop_token& stop) {
  name_thread("vesta-tables");
  while (!stop.stop_requested()) {
    std::vector<Request> batch;
    {
      MutexLock guard(lock_);
      wake_.wait(guard, stop, [this]() REQUIRES(lock_) { return !queue_.empty(); });
      batch.assign(queue_.begin(), queue_.end());
      queue_.clear();
      is_busy_ = !batch.empty();
    }
    // Small ones first: most stacks need only those, and should not wait for a compiler's library.
    std::ranges::stable_sort(batch, {}, [](const Request& one) { return code_bytes(*one.module); });
    for (size_t from = 0; from < batch.size();) {
      size_t to = from;
      uint64_t bytes = 0;
      while (to < batch.size() && (to == from || bytes < kBytesAtOnce)) {
        bytes += code_bytes(*batch[to].module);
        ++to;
      }
      const std::span<const Request> part(batch.data() + from, to - from);
      for (const Request& request : part) {
        if (stop.stop_requested()) return;
        take_in(request);
      }
      // The kernel takes several at the price of one.
      if (kernel_ != nullptr) hand_to_kernel(part);
      from = to;
    }
    const MutexLock guard(lock_);
    for (const Request& request : batch) entries_[request.module->id()].requested = false;
    trim_copies();
    is_busy_ = false;
    idle_.notify_all();
  }
}

void TableLoader::take_in(const Request& request) {
  std::shared_ptr<const UnwindTable> table;
  UnwindTableCache::Key key;
  {
    const MutexLock guard(lock_);
    const Entry& entry = entries_[request.module->id()];
    table = entry.table;  // only the kernel's copy was missing
    key = entry.key;
  }
  if (table == nullptr) table = load(*request.module, key);
  const MutexLock guard(lock_);
  Entry& entry = entries_[request.module->id()];
  entry.key = std::move(key);
  if (entry.table == nullptr) statistics_.copy_bytes += table->bytes();
  entry.table = std::move(table);
  entry.was_here = true;
  // Stacks that wait can go on before the kernel has it.
  const uint64_t one = 1;
  (void)!::write(ready_.get(), &one, sizeof(one));
}

std::shared_ptr<const UnwindTable> TableLoader::load(const Module& module,
                                                     UnwindTableCache::Key& key) {
  auto table = std::make_shared<UnwindTable>();
  table->header.state = VESTA_MODULE_NO_TABLE;
  const auto count = [this](uint64_t Statistics::*counter) {
    const MutexLock guard(lock_);
    ++(statistics_.*counter);
  };
  if (auto again = key.name.empty() ? std::nullopt : cache_->find(key)) {
    count(&Statistics::from_disk);
    *table = std::move(*again);
    return table;
  }
  const auto file = module.open();
  if (!file.ok()) {
    count(&Statistics::unreadable);
    return table;
  }
  const uint64_t hits = cache_ != nullptr ? cache_->counts().hits : 0;
  auto built =
      cache_ != nullptr ? cache_->table_of(**file, nullptr, &key) : build_unwind_table(**file);
  (*file)->release_pages();
  if (!built.ok()) {
    count(&Statistics::unreadable);
    return table;
  }
  const bool is_from_disk = cache_ != nullptr && cache_->counts().hits != hits;
  count(is_from_disk ? &Statistics::from_disk : &Statistics::built);
  *table = std::move(*built);
  return table;
}

void TableLoader::hand_to_kernel(std::span<const Request> requests) {
  std::vector<KernelTableMap::Entry> entries;
  std::vector<std::pair<ModuleId, std::shared_ptr<const UnwindTable>>> tables;
  uint64_t bytes = 0;
  for (const Request& request : requests) {
    if (request.slot == ModuleSlots::kNoSlot) continue;
    const MutexLock guard(lock_);
    Entry& entry = entries_[request.module->id()];
    if (!entry.table->is_loaded()) {
      entry.in_kernel = kernel_->put_without_table(request.slot).ok();
      entry.slot = request.slot;
      entry.kernel_bytes = 0;
      continue;
    }
    if (entry.table->bytes() > options_.max_kernel_bytes)
      continue;  // finished in user space always
    tables.emplace_back(request.module->id(), entry.table);
    entries.push_back({request.slot, entry.table.get()});
    bytes += entry.table->bytes();
  }
  if (entries.empty()) return;
  make_room_in_kernel(bytes);
  const bool taken = kernel_->put(entries).ok();
  const MutexLock guard(lock_);
  if (!taken) {
    statistics_.refused += entries.size();
    return;
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries_[tables[i].first];
    if (entry.in_kernel) statistics_.kernel_bytes -= entry.kernel_bytes;
    entry.in_kernel = true;
    entry.slot = entries[i].slot;
    entry.kernel_bytes = tables[i].second->bytes();
    statistics_.kernel_bytes += entry.kernel_bytes;
  }
}

void TableLoader::make_room_in_kernel(uint64_t bytes) {
  while (true) {
    uint32_t slot = ModuleSlots::kNoSlot;
    {
      const MutexLock guard(lock_);
      if (statistics_.kernel_bytes + bytes <= options_.max_kernel_bytes) return;
      Entry* oldest = nullptr;
      for (auto& [module, entry] : entries_) {
        if (entry.in_kernel && entry.kernel_bytes != 0 &&
            (oldest == nullptr || entry.last_use < oldest->last_use)) {
          oldest = &entry;
        }
      }
      if (oldest == nullptr) return;
      statistics_.kernel_bytes -= oldest->kernel_bytes;
      ++statistics_.evicted;
      oldest->in_kernel = false;
      slot = oldest->slot;
    }
    kernel_->drop(slot);  // waits for a grace period: not under the lock
  }
}

void TableLoader::trim_copies() {
  while (statistics_.copy_bytes > options_.max_copy_bytes) {
    Entry* oldest = nullptr;
    for (auto& [module, entry] : entries_) {
      if (entry.table != nullptr && entry.table->bytes() != 0 && !entry.requested &&
          (oldest == nullptr || entry.last_use < oldest->last_use)) {
        oldest = &entry;
      }
    }
    if (oldest == nullptr) return;
    statistics_.copy_bytes -= oldest->table->bytes();
    oldest->table = nullptr;
  }
}

uint64_t TableLoader::cpu_ns() const {
  clockid_t clock = 0;
  // The handle of a thread that runs until we are destroyed.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): native_handle() is not const.
  auto& thread = const_cast<std::jthread&>(thread_);
  return ::pthread_getcpuclockid(thread.native_handle(), &clock) == 0 ? clock_ns(clock) : 0;
}

}  // namespace vesta::agent
