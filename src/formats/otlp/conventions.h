// Names of attributes that carry meaning, from OpenTelemetry's semantic conventions and our own.
// Constants only.
#pragma once

#include <cstddef>
#include <string_view>

namespace vesta::otlp {

namespace key {

inline constexpr std::string_view kBuildIdGnu = "process.executable.build_id.gnu";
inline constexpr std::string_view kBuildIdGo = "process.executable.build_id.go";
inline constexpr std::string_view kBuildIdHtlhash = "process.executable.build_id.htlhash";
inline constexpr std::string_view kFrameType = "profile.frame.type";

// What pprof has and OTLP has no field for.
inline constexpr std::string_view kIsFolded = "pprof.location.is_folded";
inline constexpr std::string_view kHasFunctions = "pprof.mapping.has_functions";
inline constexpr std::string_view kHasFilenames = "pprof.mapping.has_filenames";
inline constexpr std::string_view kHasLineNumbers = "pprof.mapping.has_line_numbers";
inline constexpr std::string_view kHasInlineFrames = "pprof.mapping.has_inline_frames";
inline constexpr std::string_view kComment = "pprof.profile.comment";
inline constexpr std::string_view kDocUrl = "pprof.profile.doc_url";
inline constexpr std::string_view kDropFrames = "pprof.profile.drop_frames";
inline constexpr std::string_view kKeepFrames = "pprof.profile.keep_frames";
inline constexpr std::string_view kDefaultSampleType = "pprof.scope.default_sample_type";
inline constexpr std::string_view kSampleTypeOrder = "pprof.scope.sample_type_order";

inline constexpr std::string_view kProfileName = "vesta.profile.name";
inline constexpr std::string_view kLossPrefix = "vesta.loss.";

// Where the instrumentation scope goes in a profile's resource labels.
inline constexpr std::string_view kScopeName = "otel.scope.name";
inline constexpr std::string_view kScopeVersion = "otel.scope.version";
inline constexpr std::string_view kScopeAttributePrefix = "otel.scope.attribute.";

}  // namespace key

// Profiles of one scope that were one pprof are joined up to this many: a joined row has a value
// for each of them, and hostile input must not turn small rows into large ones.
inline constexpr size_t kMaxJoinedTypes = 32;

// How deep arrays and lists of attribute values may nest.
inline constexpr int kMaxValueDepth = 32;

inline constexpr const char* kLossAttributesDropped = "attributes dropped by sender";
inline constexpr const char* kLossUnitDropped = "attribute unit dropped";

}  // namespace vesta::otlp
