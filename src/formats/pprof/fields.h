// Field numbers of profile.proto, by message. Constants only.
#pragma once

#include <cstdint>

namespace vesta::pprof {

namespace profile {
inline constexpr uint32_t kSampleType = 1;
inline constexpr uint32_t kSample = 2;
inline constexpr uint32_t kMapping = 3;
inline constexpr uint32_t kLocation = 4;
inline constexpr uint32_t kFunction = 5;
inline constexpr uint32_t kStringTable = 6;
inline constexpr uint32_t kDropFrames = 7;
inline constexpr uint32_t kKeepFrames = 8;
inline constexpr uint32_t kTimeNanos = 9;
inline constexpr uint32_t kDurationNanos = 10;
inline constexpr uint32_t kPeriodType = 11;
inline constexpr uint32_t kPeriod = 12;
inline constexpr uint32_t kComment = 13;
inline constexpr uint32_t kDefaultSampleType = 14;
inline constexpr uint32_t kDocUrl = 15;
}  // namespace profile

namespace value_type {
inline constexpr uint32_t kType = 1;
inline constexpr uint32_t kUnit = 2;
}  // namespace value_type

namespace sample {
inline constexpr uint32_t kLocationId = 1;
inline constexpr uint32_t kValue = 2;
inline constexpr uint32_t kLabel = 3;
}  // namespace sample

namespace label {
inline constexpr uint32_t kKey = 1;
inline constexpr uint32_t kStr = 2;
inline constexpr uint32_t kNum = 3;
inline constexpr uint32_t kNumUnit = 4;
}  // namespace label

namespace mapping {
inline constexpr uint32_t kId = 1;
inline constexpr uint32_t kMemoryStart = 2;
inline constexpr uint32_t kMemoryLimit = 3;
inline constexpr uint32_t kFileOffset = 4;
inline constexpr uint32_t kFilename = 5;
inline constexpr uint32_t kBuildId = 6;
inline constexpr uint32_t kHasFunctions = 7;
inline constexpr uint32_t kHasFilenames = 8;
inline constexpr uint32_t kHasLineNumbers = 9;
inline constexpr uint32_t kHasInlineFrames = 10;
}  // namespace mapping

namespace location {
inline constexpr uint32_t kId = 1;
inline constexpr uint32_t kMappingId = 2;
inline constexpr uint32_t kAddress = 3;
inline constexpr uint32_t kLine = 4;
inline constexpr uint32_t kIsFolded = 5;
}  // namespace location

namespace line {
inline constexpr uint32_t kFunctionId = 1;
inline constexpr uint32_t kLine = 2;
inline constexpr uint32_t kColumn = 3;
}  // namespace line

namespace function {
inline constexpr uint32_t kId = 1;
inline constexpr uint32_t kName = 2;
inline constexpr uint32_t kSystemName = 3;
inline constexpr uint32_t kFilename = 4;
inline constexpr uint32_t kStartLine = 5;
}  // namespace function

// Words with a meaning of their own.
inline constexpr const char* kLossComment = "vesta.loss: ";  // then the count, a blank, the reason
inline constexpr const char* kTraceIdLabel = "trace_id";
inline constexpr const char* kSpanIdLabel = "span_id";
inline constexpr const char* kTimestampLabel = "timestamp_ns";
inline constexpr const char* kEndTimestampLabel = "end_timestamp_ns";
inline constexpr const char* kDifferenceBaseLabel = "pprof::base";

}  // namespace vesta::pprof
