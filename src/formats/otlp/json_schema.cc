#include "formats/otlp/json_schema.h"

#include "formats/otlp/layout.h"

namespace vesta::otlp {
namespace {

using enum FieldKind;

// Messages refer to each other, AnyValue to itself, so all are declared first.
extern const MessageSchema kAnyValue, kKeyValue;

constexpr FieldSchema kArrayFields[] = {{"values", 1, kMessage, true, &kAnyValue}};
constexpr MessageSchema kArray{kArrayFields};
constexpr FieldSchema kListFields[] = {{"values", 1, kMessage, true, &kKeyValue}};
constexpr MessageSchema kList{kListFields};
constexpr FieldSchema kAnyValueFields[] = {
    {"stringValue", 1, kString},
    {"boolValue", 2, kBool},
    {"intValue", 3, kLong},
    {"doubleValue", 4, kDouble},
    {"arrayValue", 5, kMessage, false, &kArray},
    {"kvlistValue", 6, kMessage, false, &kList},
    {"bytesValue", 7, FieldKind::kBytes},
    {"stringValueStrindex", 8, kInteger},
};
constexpr MessageSchema kAnyValue{kAnyValueFields, true};
constexpr FieldSchema kKeyValueFields[] = {
    {"key", 1, kString},
    {"value", 2, kMessage, false, &kAnyValue},
    {"keyStrindex", 3, kInteger},
};
constexpr MessageSchema kKeyValue{kKeyValueFields};

constexpr FieldSchema kResourceFields[] = {
    {"attributes", 1, kMessage, true, &kKeyValue},
    {"droppedAttributesCount", 2, kInteger},
};
constexpr MessageSchema kResource{kResourceFields};
constexpr FieldSchema kScopeFields[] = {
    {"name", 1, kString},
    {"version", 2, kString},
    {"attributes", 3, kMessage, true, &kKeyValue},
    {"droppedAttributesCount", 4, kInteger},
};
constexpr MessageSchema kScope{kScopeFields};

constexpr FieldSchema kValueTypeFields[] = {
    {"typeStrindex", 1, kInteger},
    {"unitStrindex", 2, kInteger},
};
constexpr MessageSchema kValueType{kValueTypeFields};
constexpr FieldSchema kSampleFields[] = {
    {"stackIndex", 1, kInteger},
    {"attributeIndices", 2, kInteger, true},
    {"linkIndex", 3, kInteger},
    {"values", 4, kLong, true},
    {"timestampsUnixNano", 5, kFixed64, true},
    {"locationsStartIndex", 0, kRefused},
    {"locationsLength", 0, kRefused},
};
constexpr MessageSchema kSample{kSampleFields};
constexpr FieldSchema kProfileFields[] = {
    {"sampleType", 1, kMessage, false, &kValueType},
    {"samples", 2, kMessage, true, &kSample},
    {"timeUnixNano", 3, kFixed64},
    {"durationNano", 4, kUnsignedLong},
    {"periodType", 5, kMessage, false, &kValueType},
    {"period", 6, kLong},
    {"profileId", 7, kId16},
    {"droppedAttributesCount", 8, kInteger},
    {"originalPayloadFormat", 9, kString},
    {"originalPayload", 10, FieldKind::kBytes},
    {"attributeIndices", 11, kInteger, true},
    // Names of 1.8, where JSON hides what was renumbered later.
    {"sample", 2, kMessage, true, &kSample},
    {"commentStrindices", kJsonComments, kInteger, true},
    {"locationIndices", 0, kRefused},
    {"timeNanos", 0, kRefused},
    {"stringTable", 0, kRefused},
};
constexpr MessageSchema kProfile{kProfileFields};
constexpr FieldSchema kScopeProfilesFields[] = {
    {"scope", 1, kMessage, false, &kScope},
    {"profiles", 2, kMessage, true, &kProfile},
    {"schemaUrl", 3, kString},
};
constexpr MessageSchema kScopeProfiles{kScopeProfilesFields};
constexpr FieldSchema kResourceProfilesFields[] = {
    {"resource", 1, kMessage, false, &kResource},
    {"scopeProfiles", 2, kMessage, true, &kScopeProfiles},
    {"schemaUrl", 3, kString},
};
constexpr MessageSchema kResourceProfiles{kResourceProfilesFields};

constexpr FieldSchema kMappingFields[] = {
    {"memoryStart", 1, kUnsignedLong},       {"memoryLimit", 2, kUnsignedLong},
    {"fileOffset", 3, kUnsignedLong},        {"filenameStrindex", 4, kInteger},
    {"attributeIndices", 5, kInteger, true},
};
constexpr MessageSchema kMapping{kMappingFields};
constexpr FieldSchema kLineFields[] = {
    {"functionIndex", 1, kInteger},
    {"line", 2, kLong},
    {"column", 3, kLong},
};
constexpr MessageSchema kLine{kLineFields};
constexpr FieldSchema kLocationFields[] = {
    {"mappingIndex", 1, kInteger},        {"address", 2, kUnsignedLong},
    {"lines", 3, kMessage, true, &kLine}, {"attributeIndices", 4, kInteger, true},
    {"line", 3, kMessage, true, &kLine},
};
constexpr MessageSchema kLocation{kLocationFields};
constexpr FieldSchema kFunctionFields[] = {
    {"nameStrindex", 1, kInteger},
    {"systemNameStrindex", 2, kInteger},
    {"filenameStrindex", 3, kInteger},
    {"startLine", 4, kLong},
};
constexpr MessageSchema kFunction{kFunctionFields};
constexpr FieldSchema kLinkFields[] = {{"traceId", 1, kId16}, {"spanId", 2, kId8}};
constexpr MessageSchema kLink{kLinkFields};
constexpr FieldSchema kAttributeFields[] = {
    {"keyStrindex", 1, kInteger},
    {"value", 2, kMessage, false, &kAnyValue},
    {"unitStrindex", 3, kInteger},
    {"key", 0, kRefused},
};
constexpr MessageSchema kAttribute{kAttributeFields};
constexpr FieldSchema kStackFields[] = {{"locationIndices", 1, kInteger, true}};
constexpr MessageSchema kStack{kStackFields};
constexpr FieldSchema kDictionaryFields[] = {
    {"mappingTable", 1, kMessage, true, &kMapping},
    {"locationTable", 2, kMessage, true, &kLocation},
    {"functionTable", 3, kMessage, true, &kFunction},
    {"linkTable", 4, kMessage, true, &kLink},
    {"stringTable", 5, kString, true},
    {"attributeTable", 6, kMessage, true, &kAttribute},
    {"stackTable", 7, kMessage, true, &kStack},
    {"attributeUnits", 0, kRefused},
};
constexpr MessageSchema kDictionary{kDictionaryFields};

constexpr FieldSchema kProfilesDataFields[] = {
    {"resourceProfiles", 1, kMessage, true, &kResourceProfiles},
    {"dictionary", 2, kMessage, false, &kDictionary},
    {"stringTable", 0, kRefused},
};

}  // namespace

constexpr MessageSchema kProfilesDataSchema{kProfilesDataFields};

}  // namespace vesta::otlp
