// Deletes profiles, and with them all that was made of them: totals, hours, roll-ups, series that
// have nothing left, dictionaries of services that have no series left. In slices: between two of
// them writers of the tenant go on, and so do others, whose writes would wait for a large one. Each
// slice is atomic, so that a deletion that is cut off leaves a store that is whole. From any
// thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "store/rocksdb/store.h"

namespace vesta::rocks {

// As Engine::remove().
Result<uint64_t> remove(Store& store, std::string_view tenant, const Selector& selector,
                        TimeRange range);

// Of all series whose services the policy of their tenant does not keep any longer.
Status apply_retention(Store& store, Tenant& tenant, int64_t now_ns);
// The oldest hours of all tenants, until about that many bytes are left.
Status shrink_to(Store& store, uint64_t max_bytes);

}  // namespace vesta::rocks
