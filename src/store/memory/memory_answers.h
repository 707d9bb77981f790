// The questions of the engine interface, answered from one tenant's tables profile by profile.
// Pure functions; the caller holds the lock.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "store/memory/memory_engine.h"
#include "store/memory/memory_tables.h"

namespace vesta::memory {

Result<std::vector<Selection>> select(const Tenant& tenant, const SelectRequest& request);
Result<std::vector<TotalsSeries>> totals(const Tenant& tenant, const TotalsRequest& request);
Result<std::vector<ProfilePoint>> points(const Tenant& tenant, const PointsRequest& request);
Result<ProfileBatch> samples(const Tenant& tenant, const SamplesRequest& request);
MemoryContents contents(const Tenant& tenant);

// Of the samples of these services.
std::vector<std::string> sample_label_names(const Tenant& tenant,
                                            const std::set<std::string>& services);
Result<std::vector<SampleLabelSets>> sample_label_sets(const Tenant& tenant,
                                                       const std::set<std::string>& services,
                                                       const SampleLabelsRequest& request);

}  // namespace vesta::memory
