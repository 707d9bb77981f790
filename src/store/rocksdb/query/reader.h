// Answers of the engine. Each takes what it needs of the indexes and a snapshot of the database
// under the locks, then reads without any. From any thread.
#pragma once

#include <string_view>
#include <vector>

#include "store/rocksdb/store.h"

namespace vesta::rocks {

// As the members of Engine with these names.
Result<std::vector<SeriesInfo>> series(Store& store, std::string_view tenant,
                                       const Selector& selector, TimeRange range);
Result<std::vector<std::string>> sample_label_names(Store& store, std::string_view tenant,
                                                    const Selector& selector, TimeRange range);
Result<std::vector<SampleLabelSets>> sample_label_sets(Store& store, std::string_view tenant,
                                                       const SampleLabelsRequest& request);
Result<std::vector<Selection>> select(Store& store, std::string_view tenant,
                                      const SelectRequest& request);
Result<std::vector<TotalsSeries>> totals(Store& store, std::string_view tenant,
                                         const TotalsRequest& request);
Result<std::vector<ProfilePoint>> points(Store& store, std::string_view tenant,
                                         const PointsRequest& request);
Result<ProfileBatch> samples(Store& store, std::string_view tenant, const SamplesRequest& request);

}  // namespace vesta::rocks
