// One slice of a deletion: some series in some hours of one day, with all that was made of them, in
// one atomic write. What is in the store afterwards is whole, whether more slices follow or not.
#pragma once

#include <rocksdb/write_batch.h>

#include <map>
#include <utility>
#include <vector>

#include "store/rocksdb/store.h"

namespace vesta::rocks {

// REQUIRES: the caller has the tenant's step and is alone in its gate
class Removal {
 public:
  Removal(Store& store, Tenant& tenant) : store_(store), tenant_(tenant), db_(*store.database) {}

  // Returns the series that lost something. The write is in the log, but not yet synced.
  Result<SeriesSet> run(const SeriesSet& doomed, TimeRange range);

 private:
  using Service = std::pair<PartitionNumber, TypeNumber>;

  // Whoever changes the index goes through the gate, in which we are alone.
  const SeriesIndex& index() const {
    tenant_.index_mutex.assume_no_writer();
    return tenant_.index;
  }
  const std::map<Hour, SeriesSet>& hours() const { return index().hours(); }
  Service service_of(SeriesNumber number) const;
  // Of an hour, the series that stay.
  SeriesSet rest_of(Hour hour, const SeriesSet& active) const;

  Status find(const SeriesSet& doomed, TimeRange range);
  void put_range(Family family, const rocksdb::Slice& from, const rocksdb::Slice& to);
  void delete_range(const Key& from, const Key& to);
  Status delete_part(Hour hour, const SeriesSet& doomed, TimeRange range);

  std::vector<Touch> delete_rollups();
  void delete_rollups_of_day(Day day, std::vector<Touch>& marks);
  void delete_rollup(Level level, RollupOwner owner, Bucket bucket);

  void drop_series();
  void update_index();
  void note_garbage();

  Store& store_;
  Tenant& tenant_;
  Database& db_;
  rocksdb::WriteBatch batch_;
  uint64_t range_deletions_ = 0;  // in it
  SeriesSet touched_;
  std::map<Hour, SeriesSet> removed_;  // with nothing left in that hour
  std::map<Hour, SeriesSet> partly_;   // with something left
  std::vector<std::pair<Hour, Hour>> whole_hours_;
  SeriesSet dropped_;
  std::vector<PartitionNumber> dropped_partitions_;
};

}  // namespace vesta::rocks
