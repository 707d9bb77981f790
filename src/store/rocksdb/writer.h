// The way of a batch into the store: series, numbers of stacks, records, one atomic write. A pure
// function of the store, from any thread.
#pragma once

#include <string_view>

#include "store/rocksdb/store.h"

namespace vesta::rocks {

// As Engine::write().
Result<WriteReceipt> write(Store& store, std::string_view tenant, const ProfileBatch& batch,
                           const WriteOptions& options);

}  // namespace vesta::rocks
