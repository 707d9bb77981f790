#include "store/rocksdb/writer.h"

#include <fmt/format.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/hash.h"
#include "base/leb128.h"
#include "base/mutex.h"
#include "base/table_hash.h"
#include "profile/merge/content_hash.h"
#include "store/retention.h"
#include "store/rocksdb/format/keys.h"
#include "store/rocksdb/format/record.h"
#include "store/rocksdb/slice.h"
#include "store/series_labels.h"

namespace vesta::rocks {
namespace {

// One sample type of one profile.
struct Item {
  const Profile* profile = nullptr;
  PieceOrigin origin = 0;
  size_t type_index = 0;
  ProfileType type;
  Labels labels;
  std::string_view service;

  TypeNumber type_number = 0;
  SeriesNumber series = SeriesIndex::kNone;
  bool is_new_series = false;
  bool is_duplicate = false;
  ProfileKey key;
  std::string record;
  size_t rows = 0;
  int64_t total = 0;
};

// The items of one service, with its dictionary.
struct ServiceItems {
  std::vector<Item*> items;
  PartitionNumber number = 0;
  std::shared_ptr<Partition> partition;
  std::unique_lock<Mutex> lock;
  Partition::Chunk chunk;
};

// Sorts entries, which have their stack in the upper half and come in the order of the lower one,
// byte by byte: most stacks have small numbers.
void sort_by_stack(std::vector<uint64_t>& entries, std::vector<uint64_t>& scratch) {
  uint64_t used = 0;
  for (const uint64_t entry : entries) used |= entry;
  scratch.resize(entries.size());
  for (unsigned shift = 32; shift < 64 && used >> shift != 0; shift += 8) {
    std::array<uint32_t, 256> begins{};
    for (const uint64_t entry : entries) ++begins[entry >> shift & 0xFF];
    uint32_t sum = 0;
    for (uint32_t& begin : begins) begin = std::exchange(sum, sum + begin);
    for (const uint64_t entry : entries) scratch[begins[entry >> shift & 0xFF]++] = entry;
    entries.swap(scratch);
  }
}

Result<std::vector<Item>> items_of(const ProfileBatch& batch, const WriteOptions& options) {
  std::vector<Item> items;
  const Dictionary& d = batch.dictionary;
  for (size_t p = 0; p < batch.profiles.size(); ++p) {
    const Profile& profile = batch.profiles[p];
    for (size_t i = 0; i < profile.sample_types.size(); ++i) {
      Item item;
      item.profile = &profile;
      item.origin = options.origin_of(p);
      item.type_index = i;
      item.type = profile_type_of(d, profile, i);
      for (const std::string* part :
           {&item.type.name, &item.type.sample_type, &item.type.sample_unit, &item.type.period_type,
            &item.type.period_unit}) {
        if (part->find(':') == std::string::npos) continue;
        return Error{
            ErrorCode::kInvalidInput,
            fmt::format("'{}' cannot be part of a profile type: it contains a colon", *part),
            "a type has five parts, separated by colons"};
      }
      item.labels = series_labels(d, profile, item.type);
      items.push_back(std::move(item));
    }
  }
  for (Item& item : items) item.service = label_value(item.labels, kServiceLabel);
  return items;
}

class BatchWriter {
 public:
  BatchWriter(Store& store, Tenant& tenant, const ProfileBatch& batch)
      : store_(store),
        tenant_(tenant),
        batch_(batch),
        hashes_(stack_hashes(batch.dictionary)),
        numbers_(batch.dictionary.stacks.size()),
        label_numbers_(batch.dictionary.label_sets.size()) {}

  Result<WriteReceipt> run(std::vector<Item>& items, const WriteOptions& options) {
    VESTA_TRY(store_.database->check_room());
    const auto gate = tenant_.gate.enter();
    const int64_t now_ns = options.now_ns != 0 ? options.now_ns : store_.now_ns();
    drop_expired(items, now_ns);
    find_partitions(items);
    find_series();
    for (auto& [service, of_service] : services_) VESTA_TRY(encode(of_service));

    WriteReceipt receipt = receipt_;
    const RollupState::Ticket ticket = tenant_.rollups.begin(touches());
    rocksdb::WriteBatch out;
    put_all(out, items, ticket);
    Status written;
    if (out.Count() != 0)
      written = store_.database->write(out, options.durable && store_.sync_writes());
    if (written.ok()) publish(items);
    tenant_.rollups.end(ticket);
    for (auto& [service, of_service] : services_) {
      if (written.ok()) of_service.partition->persisted(of_service.chunk);
      if (of_service.lock.owns_lock()) of_service.lock.unlock();
      of_service.partition.reset();
    }
    if (!written.ok()) {
      keep_numbers(items);
      return std::move(written).error();
    }
    if (grew_) store_.dictionaries.shrink();
    for (const Item& item : items) {
      if (item.profile == nullptr) continue;
      if (item.is_new_series) ++receipt.new_series;
      if (item.is_duplicate) {
        ++receipt.duplicates;
      } else {
        ++receipt.profiles;
        receipt.samples += item.rows;
      }
    }
    return receipt;
  }

 private:
  void drop_expired(std::vector<Item>& items, int64_t now_ns) {
    const ReaderLock lock(tenant_.index_mutex);
    for (Item& item : items) {
      if (item.profile->time_ns >= kept_from(tenant_.retention, item.service, now_ns)) continue;
      item.profile = nullptr;
      ++receipt_.expired;
    }
  }

  void find_partitions(std::vector<Item>& items) {
    for (Item& item : items)
      if (item.profile != nullptr) services_[item.service].items.push_back(&item);
    {
      const WriterLock lock(tenant_.index_mutex);
      for (auto& [service, of_service] : services_) {
        const auto found = tenant_.partitions.find(service);
        if (found != tenant_.partitions.end()) {
          of_service.number = found->second;
        } else {
          of_service.number = tenant_.next_partition++;
          tenant_.partitions.emplace(service, of_service.number);
          tenant_.services.emplace(of_service.number, service);
        }
      }
    }
    for (auto& [service, of_service] : services_) {
      of_service.partition = store_.dictionaries.partition(tenant_.id, of_service.number);
      of_service.lock = std::unique_lock(of_service.partition->write_mutex());
    }
  }

  // A new series has its number here, but is found by others only once it is in the store; until
  // then, the lock of its partition keeps them from making it a second time.
  void find_series() {
    const WriterLock lock(tenant_.index_mutex);
    std::map<Labels, SeriesNumber> made;
    for (auto& [service, of_service] : services_) {
      for (Item* item : of_service.items) {
        const auto [type, is_new_type] = tenant_.type_numbers.try_emplace(
            item->type, static_cast<TypeNumber>(tenant_.types.size()));
        if (is_new_type) tenant_.types.push_back(item->type);
        item->type_number = type->second;
        item->series = tenant_.index.find(item->labels);
        if (item->series != SeriesIndex::kNone) continue;
        const auto [series, is_first] = made.try_emplace(item->labels, 0);
        if (is_first) {
          const auto tried = tenant_.unwritten.find(item->labels);
          series->second = tried == tenant_.unwritten.end() ? tenant_.next_series++ : tried->second;
        }
        item->series = series->second;
        item->is_new_series = is_first;
      }
    }
  }

  Status encode(ServiceItems& of_service) {
    std::vector<StackId> wanted;
    std::vector<bool> seen(numbers_.size());
    for (const Item* item : of_service.items) {
      const Samples& samples = item->profile->samples;
      for (size_t row = 0; row < samples.size(); ++row) {
        const StackId stack = samples.stacks[row];
        if (seen[stack.index()] || item->profile->value(row, item->type_index) == 0) continue;
        seen[stack.index()] = true;
        wanted.push_back(stack);
      }
    }
    const size_t before = of_service.partition->stack_count();
    VESTA_TRY(of_service.partition->number_stacks(batch_.dictionary, hashes_, wanted, numbers_));
    receipt_.new_stacks += of_service.partition->stack_count() - before;
    std::ranges::fill(label_numbers_, kUnknownSet);
    for (Item* item : of_service.items) VESTA_TRY(encode(of_service, *item));
    of_service.chunk = of_service.partition->pending();
    if (!of_service.chunk.key.empty()) grew_ = true;
    return {};
  }

  Status encode(ServiceItems& of_service, Item& item) {
    const Profile& profile = *item.profile;
    VESTA_TRY(collect_rows(*of_service.partition, profile, item.type_index));
    RecordHeader header;
    header.duration_ns = profile.duration_ns;
    header.origin = item.origin;
    header.period = profile.period;
    std::map<std::string_view, uint64_t> losses;
    for (const Loss& loss : profile.losses)
      losses[batch_.dictionary.string(loss.reason)] += loss.count;
    header.losses.assign(losses.begin(), losses.end());
    item.record = encode_record(header, rows_, profile.time_ns);
    item.rows = rows_.size();
    for (const Row& row : rows_) item.total = saturating_add(item.total, row.value);
    item.key = {tenant_.id, hour_of(profile.time_ns), item.series, profile.time_ns,
                hash64(item.record)};
    const Key key = item.key.encode();
    if (!keys_.emplace(key.view()).second) {
      item.is_duplicate = true;
    } else if (!item.is_new_series) {
      VESTA_ASSIGN(item.is_duplicate, store_.database->contains(Family::kTotals, key.view()));
    }
    return {};
  }

  // The rows of one type, alike ones added up, in order.
  Status collect_rows(Partition& partition, const Profile& profile, size_t type) {
    const Samples& samples = profile.samples;
    order_.clear();
    for (size_t row = 0; row < samples.size(); ++row) {
      if (profile.value(row, type) == 0) continue;
      order_.push_back(uint64_t{numbers_[samples.stacks[row].index()].value} << 32 | row);
    }
    sort_by_stack(order_, sorted_);
    rows_.clear();
    rows_.reserve(order_.size());
    const bool is_plain =
        samples.labels.empty() && samples.links.empty() && samples.times_ns.empty();
    for (const uint64_t entry : order_) {
      const auto row = static_cast<uint32_t>(entry);
      Row out;
      out.key.stack = StackNumber(entry >> 32);
      out.value = profile.value(row, type);
      if (!is_plain) {
        VESTA_ASSIGN(out.key.labels, label_number(partition, samples.label_set(row)));
        out.key.link = batch_.dictionary.links[samples.link(row).index()];
        out.key.time_ns = samples.time_ns(row);
      }
      rows_.push_back(out);
    }
    if (!is_plain) std::ranges::sort(rows_, {}, &Row::key);
    size_t kept = 0;
    for (const Row& row : rows_) {
      if (kept != 0 && rows_[kept - 1].key == row.key) {
        rows_[kept - 1].value = saturating_add(rows_[kept - 1].value, row.value);
      } else {
        rows_[kept++] = row;
      }
    }
    rows_.resize(kept);
    std::erase_if(rows_, [](const Row& row) { return row.value == 0; });
    return {};
  }

  Result<LabelSetNumber> label_number(Partition& partition, LabelSetId set) {
    uint32_t& number = label_numbers_[set.index()];
    if (number == kUnknownSet) {
      VESTA_ASSIGN(number, partition.number_label_set(batch_.dictionary, set));
    }
    return number;
  }

  std::vector<Touch> touches() const {
    std::set<Touch> found;
    for (const auto& [service, of_service] : services_) {
      for (const Item* item : of_service.items) {
        if (!item->is_duplicate)
          found.insert({item->key.hour, item->series, of_service.number, item->type_number});
      }
    }
    return {found.begin(), found.end()};
  }

  void put_all(rocksdb::WriteBatch& out, const std::vector<Item>& items,
               const RollupState::Ticket& ticket) {
    Database& db = *store_.database;
    std::set<std::pair<Hour, SeriesNumber>> hours;
    std::set<std::pair<PartitionNumber, uint8_t>> lengths;
    for (auto& [service, of_service] : services_) {
      if (!of_service.chunk.key.empty())
        out.Put(db.family(Family::kDictionary), of_service.chunk.key, of_service.chunk.value);
      for (const Item* item : of_service.items)
        if (item->is_new_series) put_series(out, *item, of_service.number);
    }
    {
      const ReaderLock lock(tenant_.index_mutex);
      for (const Item& item : items) {
        if (item.profile == nullptr || item.is_duplicate) continue;
        const Key key = item.key.encode();
        out.Put(db.family(Family::kRaw), slice(key.view()), item.record);
        std::string total;
        put_signed(total, item.total);
        put_signed(total, item.profile->duration_ns);
        out.Put(db.family(Family::kTotals), slice(key.view()), total);
        const PartitionNumber partition = services_.at(item.service).number;
        const uint8_t length = ProfileLengths::class_of(item.profile->duration_ns);
        const auto known = tenant_.lengths.find(partition);
        if (length != 0 && (known == tenant_.lengths.end() || !known->second.contains(length)) &&
            lengths.emplace(partition, length).second) {
          put_length(out, db, tenant_.id, partition, length);
        }
        if (!tenant_.index.has_hour(item.key.hour, item.series) &&
            hours.emplace(item.key.hour, item.series).second) {
          out.Put(db.family(Family::kHours),
                  slice(ProfileKey::prefix(tenant_.id, item.key.hour, item.series).view()), "");
        }
      }
    }
    for (const Touch& touch : ticket.late) {
      const Key key = meta_key(MetaKind::kDirty).u32(tenant_.id).u32(touch.hour).u32(touch.series);
      out.Put(db.family(Family::kMeta), slice(key.view()),
              slice(Key().u32(touch.partition).u32(touch.type).view()));
    }
    // Nobody need wait for a write that others do not build upon.
    for (auto& [service, of_service] : services_) {
      const bool is_new = std::ranges::any_of(of_service.items,
                                              [](const Item* item) { return item->is_new_series; });
      if (of_service.chunk.key.empty() && !is_new) of_service.lock.unlock();
    }
  }

  // With all that it needs to be found again; the same is written again with the next series.
  void put_series(rocksdb::WriteBatch& out, const Item& item, PartitionNumber partition) {
    Database& db = *store_.database;
    out.Put(db.family(Family::kSeries), slice(Key().u32(tenant_.id).u32(item.series).view()),
            encode_labels(item.labels, partition, item.type_number));
    std::string tenant_key(meta_key(MetaKind::kTenant).view());
    tenant_key += tenant_.name;
    out.Put(db.family(Family::kMeta), tenant_key, slice(Key().u32(tenant_.id).view()));
    out.Put(db.family(Family::kMeta),
            slice(meta_key(MetaKind::kType).u32(tenant_.id).u32(item.type_number).view()),
            item.type.id());
    out.Put(db.family(Family::kMeta),
            slice(meta_key(MetaKind::kPartition).u32(tenant_.id).u32(partition).view()),
            slice(item.service));
  }

  void publish(const std::vector<Item>& items) {
    const WriterLock lock(tenant_.index_mutex);
    SeriesIndex& index = tenant_.index;
    for (const auto& [service, of_service] : services_) {
      for (const Item* item : of_service.items) {
        if (!item->is_new_series) continue;
        if (!tenant_.unwritten.empty()) tenant_.unwritten.erase(item->labels);
        index.add(item->series, item->labels, of_service.number, item->type_number);
        index.series(item->series).is_exact = true;
      }
      for (const Item* item : of_service.items) {
        if (!item->is_duplicate)
          tenant_.lengths[of_service.number].add(
              ProfileLengths::class_of(item->profile->duration_ns));
      }
    }
    for (const Item& item : items) {
      if (item.profile == nullptr || item.is_duplicate) continue;
      SeriesIndex::Series& series = index.series(item.series);
      series.first_ns = std::min(series.first_ns, item.key.time_ns);
      series.last_ns = std::max(series.last_ns, item.key.time_ns);
      if (!index.has_hour(item.key.hour, item.series)) index.add_hour(item.key.hour, item.series);
    }
  }

  void keep_numbers(const std::vector<Item>& items) {
    const WriterLock lock(tenant_.index_mutex);
    for (const Item& item : items) {
      if (item.profile == nullptr || !item.is_new_series) continue;
      if (tenant_.unwritten.size() < kMaxUnwritten)
        tenant_.unwritten.emplace(item.labels, item.series);
    }
  }

  static constexpr uint32_t kUnknownSet = UINT32_MAX;
  static constexpr size_t kMaxUnwritten = 10'000;

  Store& store_;
  Tenant& tenant_;
  const ProfileBatch& batch_;
  const std::vector<Hash128> hashes_;
  std::vector<StackNumber> numbers_;     // of the service at hand, by stack
  std::vector<uint32_t> label_numbers_;  // likewise, by label set
  std::map<std::string_view, ServiceItems> services_;
  std::unordered_set<std::string, TableKeyHash> keys_;
  std::vector<uint64_t> order_;   // scratch
  std::vector<uint64_t> sorted_;  // scratch
  std::vector<Row> rows_;         // scratch
  WriteReceipt receipt_;
  bool grew_ = false;
};

}  // namespace

Result<WriteReceipt> write(Store& store, std::string_view tenant, const ProfileBatch& batch,
                           const WriteOptions& options) {
  VESTA_ASSIGN(std::vector<Item> items, items_of(batch, options));
  if (items.empty()) return WriteReceipt{};
  return BatchWriter(store, store.tenants.find_or_add(tenant), batch).run(items, options);
}

}  // namespace vesta::rocks
