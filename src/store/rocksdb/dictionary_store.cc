#include "store/rocksdb/dictionary_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/leb128.h"
#include "base/mutex.h"
#include "store/sample_labels.h"

namespace vesta::rocks {
namespace {

Key chunk_prefix(TenantId tenant, PartitionNumber partition) {
  return Key().u32(tenant).u32(partition);
}

struct TextLabel {
  std::string_view key;
  LabelKind kind = LabelKind::kString;
  std::string_view text;
  std::string_view unit;
  int64_t number = 0;
  friend auto operator<=>(const TextLabel&, const TextLabel&) = default;
};

// Sorted, so that equal sets are equal whatever their order was.
std::vector<TextLabel> text_labels(const Dictionary& d, LabelSetId set) {
  std::vector<TextLabel> labels;
  for (const Label& l : d.label_sets[set])
    labels.push_back({d.string(l.key), l.kind, d.string(l.text), d.string(l.unit), l.number});
  std::ranges::sort(labels);
  return labels;
}

}  // namespace

Error Partition::damaged() const {
  return Error{ErrorCode::kIo,
               fmt::format("{}: the dictionary of partition {} of tenant {} is damaged",
                           database_.directory(), number_, tenant_),
               "restore a backup, or delete the data of that service"};
}

Status Partition::load_numbers() {
  if (has_numbers_) return {};
  stacks_ = {};
  sets_ = {};
  DictionaryMark mark;
  uint32_t chunks = 0;
  Cursor cursor(database_, Family::kDictionary, false);
  const Key prefix = chunk_prefix(tenant_, number_);
  for (cursor.seek(prefix.view()); cursor.at_prefix(prefix.view()); cursor.next()) {
    if (!decode_chunk_hashes(cursor.value(), mark, stacks_, sets_)) return damaged();
    ++chunks;
  }
  VESTA_TRY(cursor.status());
  persisted_ = mark;
  chunks_ = chunks;
  has_numbers_ = true;
  measure();
  return {};
}

Status Partition::load_tree() {
  VESTA_TRY(load_numbers());
  if (resident_ != nullptr) return {};
  auto resident = std::make_unique<Resident>();
  resident->label_sets.push_back({});
  Cursor cursor(database_, Family::kDictionary, false);
  const Key prefix = chunk_prefix(tenant_, number_);
  for (cursor.seek(prefix.view()); cursor.at_prefix(prefix.view()); cursor.next()) {
    if (!decode_chunk(cursor.value(), resident->tree, resident->label_sets)) return damaged();
  }
  VESTA_TRY(cursor.status());
  if (mark_of(resident->tree, resident->label_sets) != persisted_) return damaged();
  resident_ = std::move(resident);
  measure();
  return {};
}

StackTreeWriter& Partition::writer() {
  if (resident_->writer == nullptr)
    resident_->writer = std::make_unique<StackTreeWriter>(resident_->tree);
  return *resident_->writer;
}

DictionaryMark Partition::current() const {
  return resident_ == nullptr ? persisted_ : mark_of(resident_->tree, resident_->label_sets);
}

void Partition::measure() {
  uint64_t bytes = stacks_.byte_size() + sets_.byte_size();
  if (resident_ != nullptr) {
    bytes += resident_->tree.byte_size() + resident_->label_sets.byte_size();
    if (resident_->writer != nullptr) bytes += resident_->writer->byte_size();
  }
  bytes_ = bytes;
}

Status Partition::number_stacks(const Dictionary& dictionary, const std::vector<Hash128>& hashes,
                                const std::vector<StackId>& wanted,
                                std::vector<StackNumber>& numbers) {
  const MutexLock lock(tree_mutex_);
  VESTA_TRY(load_numbers());
  const auto hash_at = [&](size_t i) -> const Hash128& { return hashes[wanted[i].index()]; };
  bool is_new = false;
  stacks_.find_all(wanted.size(), hash_at, [&](size_t i, StackNumber number) {
    numbers[wanted[i].index()] = number;
    is_new |= number == StackNumbers::kUnknown;
  });
  if (!is_new) return {};
  VESTA_TRY(load_tree());
  StackTreeWriter::LocationFrames frames;
  for (const StackId id : wanted) {
    StackNumber& number = numbers[id.index()];
    if (number == StackNumbers::kUnknown)
      number = writer().number(stacks_, hashes[id.index()], dictionary, id, frames);
  }
  measure();
  return {};
}

Result<uint32_t> Partition::number_label_set(const Dictionary& dictionary, LabelSetId set) {
  const std::vector<TextLabel> labels = text_labels(dictionary, set);
  if (labels.empty()) return uint32_t{0};
  std::string content;
  for (const TextLabel& label : labels) {
    put_text(content, label.key);
    put_varint(content, static_cast<uint64_t>(label.kind));
    put_text(content, label.text);
    put_text(content, label.unit);
    put_signed(content, label.number);
  }
  const Hash128 hash = hash128(content);
  const MutexLock lock(tree_mutex_);
  VESTA_TRY(load_numbers());
  StackNumber number = sets_.find(hash);
  if (number == StackNumbers::kUnknown) {
    VESTA_TRY(load_tree());
    std::vector<StoredLabel> stored;
    stored.reserve(labels.size());
    for (const TextLabel& label : labels) {
      stored.push_back({writer().string(label.key), label.kind, writer().string(label.text),
                        writer().string(label.unit), label.number});
    }
    resident_->label_sets.push_back(std::move(stored));
    number = sets_.find_or_add(hash);
    measure();
  }
  return number.value + 1;
}

Partition::Chunk Partition::pending() {
  const MutexLock lock(tree_mutex_);
  Chunk chunk;
  if (resident_ == nullptr || current() == persisted_) return chunk;
  chunk.key = chunk_prefix(tenant_, number_).u32(chunks_).view();
  chunk.value = encode_chunk(resident_->tree, resident_->label_sets, stacks_, sets_, persisted_);
  chunk.end = current();
  return chunk;
}

void Partition::persisted(const Chunk& chunk) {
  const MutexLock lock(tree_mutex_);
  if (chunk.key.empty()) return;
  persisted_ = chunk.end;
  ++chunks_;
}

Result<DictionarySnapshot> Partition::snapshot() {
  const MutexLock lock(tree_mutex_);
  VESTA_TRY(load_tree());
  return DictionarySnapshot{resident_->tree, resident_->label_sets};
}

Result<std::vector<std::string>> Partition::sample_label_names() {
  const MutexLock lock(tree_mutex_);
  VESTA_TRY(load_numbers());
  if (current().label_sets > sets_named_) {
    VESTA_TRY(load_tree());
    const LabelSets& sets = resident_->label_sets;
    for (; sets_named_ < sets.size(); ++sets_named_) {
      for (const StoredLabel& label : sets[sets_named_]) {
        const std::string_view name = resident_->tree.string(label.key);
        if (names_something(label.kind, name) && !sample_names_.contains(name))
          sample_names_.emplace(name);
      }
    }
  }
  return std::vector<std::string>(sample_names_.begin(), sample_names_.end());
}

Result<bool> Partition::has_sample_labels() {
  const MutexLock lock(tree_mutex_);
  VESTA_TRY(load_numbers());
  return current().label_sets > 1;
}

uint64_t Partition::byte_size() const {
  return bytes_;
}

size_t Partition::stack_count() {
  const MutexLock lock(tree_mutex_);
  return load_numbers().ok() ? stacks_.size() : 0;
}

size_t Partition::node_count() {
  const MutexLock lock(tree_mutex_);
  return load_numbers().ok() ? current().nodes : 0;
}

void Partition::shed(int step) {
  const MutexLock lock(tree_mutex_);
  if (resident_ != nullptr && step == 0) resident_->writer.reset();
  // What a failed write left behind is known here alone.
  if (step >= 1 && current() == persisted_) {
    resident_.reset();
    if (step >= 2) {
      stacks_ = {};
      sets_ = {};
      has_numbers_ = false;
    }
  }
  measure();
}

std::shared_ptr<Partition> DictionaryStore::partition(TenantId tenant, PartitionNumber number) {
  const MutexLock lock(mutex_);
  const Id id{tenant, number};
  const auto [at, is_new] = partitions_.try_emplace(id);
  if (is_new) {
    at->second.partition = std::make_shared<Partition>(database_, tenant, number);
    at->second.place = recent_.insert(recent_.begin(), id);
  } else {
    recent_.splice(recent_.begin(), recent_, at->second.place);
  }
  return at->second.partition;
}

void DictionaryStore::forget(TenantId tenant, PartitionNumber number) {
  const MutexLock lock(mutex_);
  const auto found = partitions_.find({tenant, number});
  if (found == partitions_.end()) return;
  recent_.erase(found->second.place);
  partitions_.erase(found);
}

void DictionaryStore::shrink() {
  const MutexLock lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [id, entry] : partitions_) bytes += entry.partition->byte_size();
  for (int step = 0; step < 3 && bytes > max_bytes_; ++step) {
    for (auto at = recent_.rbegin(); at != recent_.rend() && bytes > max_bytes_; ++at) {
      const std::shared_ptr<Partition>& partition = partitions_.at(*at).partition;
      // The map has one; all others are in use. Nobody gets another without the lock.
      if (partition.use_count() > 1) continue;
      const uint64_t before = partition->byte_size();
      partition->shed(step);
      bytes -= before - std::min(before, partition->byte_size());
    }
  }
}

uint64_t DictionaryStore::byte_size() {
  const MutexLock lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [id, entry] : partitions_) bytes += entry.partition->byte_size();
  return bytes;
}

}  // namespace vesta::rocks
