#include "store/rocksdb/store.h"

#include <fmt/format.h>

#include <rocksdb/write_batch.h>

#include "base/labels.h"
#include "base/leb128.h"
#include "base/mutex.h"
#include "profile/profile.h"

namespace vesta::rocks {
namespace {

bool decode_labels(std::string_view bytes, Labels& labels, PartitionNumber& partition,
                   TypeNumber& type) {
  VarintReader reader(bytes);
  if (reader.byte() != 1) return false;
  partition = reader.varint32();
  type = reader.varint32();
  const uint64_t count = reader.varint();
  if (count > reader.remaining()) return false;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string_view name = reader.text();
    labels.emplace_back(name, reader.text());
  }
  return reader.ok();
}

bool decode_policy(std::string_view bytes, RetentionPolicy& policy) {
  VarintReader reader(bytes);
  if (reader.byte() != 1) return false;
  policy.max_bytes = reader.varint();
  const uint64_t count = reader.varint();
  if (count > reader.remaining()) return false;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string_view service = reader.text();
    policy.rules.push_back({std::string(service), reader.signed_varint()});
  }
  return reader.ok();
}

class Loader {
 public:
  explicit Loader(Store& store) : store_(store) {}

  Status run() {
    VESTA_TRY(each_meta(MetaKind::kTenant, 1, [&](std::string_view key, std::string_view value) {
      if (value.size() != 4) return false;
      store_.tenants.restore(static_cast<TenantId>(big_endian(value, 0, 4)), key.substr(1));
      return true;
    }));
    VESTA_TRY(each_meta(MetaKind::kType, 9, [&](std::string_view key, std::string_view value) {
      return add_type(tenant_of(key), big_endian(key, 5, 4), value);
    }));
    VESTA_TRY(each_meta(MetaKind::kPartition, 9, [&](std::string_view key, std::string_view value) {
      Tenant* tenant = tenant_of(key);
      if (tenant == nullptr) return false;
      const WriterLock lock(tenant->index_mutex);
      const auto number = static_cast<PartitionNumber>(big_endian(key, 5, 4));
      tenant->partitions[std::string(value)] = number;
      tenant->services[number] = value;
      tenant->next_partition = std::max(tenant->next_partition, number + 1);
      return true;
    }));
    VESTA_TRY(
        each_meta(MetaKind::kNextNumbers, 5, [&](std::string_view key, std::string_view value) {
          Tenant* tenant = tenant_of(key);
          if (tenant == nullptr || value.size() != 8) return false;
          const WriterLock lock(tenant->index_mutex);
          tenant->next_series = static_cast<SeriesNumber>(big_endian(value, 0, 4));
          tenant->next_partition = std::max(tenant->next_partition,
                                            static_cast<PartitionNumber>(big_endian(value, 4, 4)));
          return true;
        }));
    VESTA_TRY(each_meta(MetaKind::kRetention, 5, [&](std::string_view key, std::string_view value) {
      Tenant* tenant = tenant_of(key);
      if (tenant == nullptr) return false;
      const WriterLock lock(tenant->index_mutex);
      return decode_policy(value, tenant->retention);
    }));
    VESTA_TRY(each_meta(MetaKind::kWatermark, 5, [&](std::string_view key, std::string_view value) {
      Tenant* tenant = tenant_of(key);
      if (tenant == nullptr || value.size() != 8) return false;
      const MutexLock lock(tenant->rollups.mutex());
      tenant->rollups.restore(static_cast<Hour>(big_endian(value, 0, 4)),
                              static_cast<Day>(big_endian(value, 4, 4)));
      return true;
    }));
    VESTA_TRY(each_meta(MetaKind::kDirty, 13, [&](std::string_view key, std::string_view value) {
      Tenant* tenant = tenant_of(key);
      if (tenant == nullptr || value.size() != 8) return false;
      const MutexLock lock(tenant->rollups.mutex());
      tenant->rollups.restore_mark({static_cast<Hour>(big_endian(key, 5, 4)),
                                    static_cast<SeriesNumber>(big_endian(key, 9, 4)),
                                    static_cast<PartitionNumber>(big_endian(value, 0, 4)),
                                    static_cast<TypeNumber>(big_endian(value, 4, 4))});
      return true;
    }));
    VESTA_TRY(each_meta(MetaKind::kLength, 10, [&](std::string_view key, std::string_view) {
      Tenant* tenant = tenant_of(key);
      if (tenant == nullptr) return false;
      const WriterLock lock(tenant->index_mutex);
      tenant->lengths[static_cast<PartitionNumber>(big_endian(key, 5, 4))].add(
          static_cast<uint8_t>(big_endian(key, 9, 1)));
      return true;
    }));
    VESTA_TRY(load_series());
    VESTA_TRY(load_hours());
    return store_.database->is_of_schema_before() ? raise_schema() : Status();
  }

 private:
  Tenant* tenant_of(std::string_view meta_key) {
    return store_.tenants.by_id(static_cast<TenantId>(big_endian(meta_key, 1, 4)));
  }
  static bool add_type(Tenant* tenant, uint64_t number, std::string_view id) {
    auto type = ProfileType::parse(id);
    if (tenant == nullptr || !type || number > 1'000'000) return false;
    const WriterLock lock(tenant->index_mutex);
    if (number >= tenant->types.size()) tenant->types.resize(number + 1);
    tenant->types[number] = *type;
    tenant->type_numbers[*type] = static_cast<TypeNumber>(number);
    return true;
  }

  template <class Visit>
  Status each_meta(MetaKind kind, size_t key_size, Visit&& visit) {
    Cursor cursor(*store_.database, Family::kMeta);
    const Key prefix = meta_key(kind);
    for (cursor.seek(prefix.view()); cursor.at_prefix(prefix.view()); cursor.next()) {
      const bool fits = kind == MetaKind::kTenant || cursor.key().size() == key_size;
      if (!fits || !visit(cursor.key(), cursor.value())) return damaged("the table of contents");
    }
    return cursor.status();
  }

  Status load_series() {
    Cursor cursor(*store_.database, Family::kSeries, false);
    for (cursor.seek({}); cursor.valid(); cursor.next()) {
      Labels labels;
      PartitionNumber partition = 0;
      TypeNumber type = 0;
      if (cursor.key().size() != 8 || !decode_labels(cursor.value(), labels, partition, type))
        return damaged("the list of series");
      Tenant* tenant = store_.tenants.by_id(static_cast<TenantId>(big_endian(cursor.key(), 0, 4)));
      const auto number = static_cast<SeriesNumber>(big_endian(cursor.key(), 4, 4));
      if (tenant == nullptr) return damaged("the list of series");
      const WriterLock lock(tenant->index_mutex);
      if (type >= tenant->types.size() || !tenant->services.contains(partition) ||
          number == SeriesIndex::kNone) {
        return damaged("the list of series");
      }
      tenant->index.add(number, labels, partition, type);
      tenant->next_series = std::max(tenant->next_series, number + 1);
    }
    return cursor.status();
  }

  Status load_hours() {
    Cursor cursor(*store_.database, Family::kHours, false);
    Tenant* tenant = nullptr;
    for (cursor.seek({}); cursor.valid(); cursor.next()) {
      if (cursor.key().size() != 12) return damaged("the list of hours");
      const auto id = static_cast<TenantId>(big_endian(cursor.key(), 0, 4));
      if (tenant == nullptr || tenant->id != id) tenant = store_.tenants.by_id(id);
      const auto series = static_cast<SeriesNumber>(big_endian(cursor.key(), 8, 4));
      if (tenant == nullptr) return damaged("the list of hours");
      const WriterLock lock(tenant->index_mutex);
      if (!tenant->index.contains(series)) return damaged("the list of hours");
      tenant->index.add_hour(static_cast<Hour>(big_endian(cursor.key(), 4, 4)), series);
    }
    return cursor.status();
  }

  // Earlier versions did not keep how long profiles are. Their roll-ups of totals are read as they
  // are (stored_totals.h).
  Status raise_schema() {
    std::map<std::pair<TenantId, PartitionNumber>, ProfileLengths> found;
    Cursor cursor(*store_.database, Family::kTotals, false);
    Tenant* tenant = nullptr;
    for (cursor.seek({}); cursor.valid(); cursor.next()) {
      VarintReader reader(cursor.value());
      reader.signed_varint();  // the total
      const int64_t duration_ns = reader.signed_varint();
      // A damaged block is told to those who ask for it.
      if (cursor.key().size() != ProfileKey::kSize || !reader.ok()) continue;
      const ProfileKey key = ProfileKey::decode(cursor.key());
      if (tenant == nullptr || tenant->id != key.tenant) tenant = store_.tenants.by_id(key.tenant);
      if (tenant == nullptr) continue;
      const ReaderLock lock(tenant->index_mutex);
      if (!tenant->index.contains(key.series)) continue;
      found[{key.tenant, tenant->index.series(key.series).partition}].add(
          ProfileLengths::class_of(duration_ns));
    }
    if (!cursor.status()) return cursor.status();
    rocksdb::WriteBatch batch;
    for (const auto& [owner, lengths] : found) {
      const auto [tenant_id, partition] = owner;
      Tenant* owning = store_.tenants.by_id(tenant_id);
      {
        const WriterLock lock(owning->index_mutex);
        owning->lengths[partition] = lengths;
      }
      lengths.for_each([&, tenant_id = tenant_id, partition = partition](uint8_t length) {
        put_length(batch, *store_.database, tenant_id, partition, length);
      });
    }
    return store_.database->raise_schema(batch);
  }

  Error damaged(std::string_view what) const {
    return Error{ErrorCode::kIo, fmt::format("{}: {} is damaged", store_.options.directory, what),
                 "restore a backup into another directory with 'vesta restore'"};
  }

  Store& store_;
};

}  // namespace

Tenant* TenantTable::find(std::string_view name) {
  const ReaderLock lock(mutex_);
  const auto found = tenants_.find(name);
  return found == tenants_.end() ? nullptr : found->second.get();
}

Tenant& TenantTable::find_or_add(std::string_view name) {
  if (Tenant* known = find(name)) return *known;
  const WriterLock lock(mutex_);
  auto& tenant = tenants_[std::string(name)];
  if (tenant == nullptr) {
    tenant = std::make_unique<Tenant>();
    tenant->id = by_id_.empty() ? 1 : by_id_.rbegin()->first + 1;
    tenant->name = name;
    by_id_[tenant->id] = tenant.get();
  }
  return *tenant;
}

Tenant& TenantTable::restore(TenantId id, std::string_view name) {
  const WriterLock lock(mutex_);
  auto& tenant = tenants_[std::string(name)];
  tenant = std::make_unique<Tenant>();
  tenant->id = id;
  tenant->name = name;
  by_id_[id] = tenant.get();
  return *tenant;
}

Tenant* TenantTable::by_id(TenantId id) {
  const ReaderLock lock(mutex_);
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

std::vector<Tenant*> TenantTable::all() {
  const ReaderLock lock(mutex_);
  std::vector<Tenant*> out;
  for (const auto& [name, tenant] : tenants_) out.push_back(tenant.get());
  return out;
}

Status load(Store& store) {
  return Loader(store).run();
}

std::string encode_labels(const Labels& labels, PartitionNumber partition, TypeNumber type) {
  std::string out(1, 1);
  put_varint(out, partition);
  put_varint(out, type);
  put_varint(out, labels.size());
  for (const auto& [name, value] : labels) {
    put_text(out, name);
    put_text(out, value);
  }
  return out;
}

void put_length(rocksdb::WriteBatch& batch, Database& database, TenantId tenant,
                PartitionNumber partition, uint8_t length) {
  const Key key = meta_key(MetaKind::kLength).u32(tenant).u32(partition).u8(length);
  batch.Put(database.family(Family::kMeta), {key.view().data(), key.view().size()},
            rocksdb::Slice());
}

std::string encode_policy(const RetentionPolicy& policy) {
  std::string out(1, 1);
  put_varint(out, policy.max_bytes);
  put_varint(out, policy.rules.size());
  for (const RetentionRule& rule : policy.rules) {
    put_text(out, rule.service);
    put_signed(out, rule.keep_ns);
  }
  return out;
}

}  // namespace vesta::rocks
