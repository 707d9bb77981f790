#include "formats/pprof/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "formats/common/losses.h"
#include "formats/common/parse_error.h"
#include "formats/pprof/fields.h"
#include "formats/pprof/outline.h"
#include "formats/pprof/samples.h"
#include "formats/pprof/tables.h"
#include "formats/protobuf/wire.h"

namespace vesta {
namespace pprof {
namespace {

Result<SampleType> decode_value_type(std::string_view bytes, uint32_t offset,
                                     const StringTable& strings, std::string_view name) {
  uint64_t type = 0;
  uint64_t unit = 0;
  WireReader field(bytes.substr(offset), bytes.data());
  field.next();
  WireReader reader = field.message();
  while (reader.next()) {
    if (reader.is(value_type::kType, WireType::kVarint)) {
      type = reader.varint();
    } else if (reader.is(value_type::kUnit, WireType::kVarint)) {
      unit = reader.varint();
    } else if (reader.field() <= value_type::kUnit) {
      return malformed(reader.offset(),
                       fmt::format("{}: field {} has wire type {}", name, reader.field(),
                                   static_cast<int>(reader.type())));
    } else {
      reader.skip();
    }
  }
  if (!reader.ok())
    return malformed(reader.offset(), fmt::format("{}: {}", name, reader.problem()));
  for (const uint64_t index : {type, unit}) {
    if (index >= strings.size()) {
      return malformed(offset,
                       fmt::format("{}: string {} of a table of {}", name, index, strings.size()));
    }
  }
  SampleType out;
  out.type = StringId(type);
  out.unit = StringId(unit);
  out.temporality = temporality_of(strings[out.type]);
  return out;
}

Result<StringId> checked_string(const Placed& index, const StringTable& strings,
                                std::string_view name) {
  if (index.value >= strings.size()) {
    return malformed(index.offset, fmt::format("{}: string {} of a table of {}", name, index.value,
                                               strings.size()));
  }
  return StringId(index.value);
}

// pprof's own rule: without a name, or with one that is not there, the last type.
uint32_t default_type_of(const Profile& p, StringId wanted, const StringTable& strings) {
  if (!strings[wanted].empty()) {
    for (uint32_t i = 0; i < p.sample_types.size(); ++i) {
      if (strings[p.sample_types[i].type] == strings[wanted]) return i;
    }
  }
  return static_cast<uint32_t>(p.sample_types.size() - 1);
}

// "vesta.loss: 12 ring full" as the writer has it; any other comment stays a comment.
bool parse_loss(std::string_view comment, uint64_t& count, std::string_view& reason) {
  const std::string_view prefix = kLossComment;
  if (!comment.starts_with(prefix)) return false;
  comment.remove_prefix(prefix.size());
  const auto [end, problem] =
      std::from_chars(comment.data(), comment.data() + comment.size(), count);
  reason = comment.substr(static_cast<size_t>(end - comment.data()));
  if (problem != std::errc() || reason.size() < 2 || reason[0] != ' ') return false;
  reason.remove_prefix(1);
  return true;
}

// Reasons in the dictionary may be there under several ids; here they are compared as text.
void add_loss(ProfileBatch& batch, const std::string& reason, uint64_t count) {
  if (count == 0) return;
  Profile& p = batch.profiles.front();
  for (Loss& loss : p.losses) {
    if (batch.dictionary.string(loss.reason) == reason) {
      if (__builtin_add_overflow(loss.count, count, &loss.count))
        loss.count = std::numeric_limits<uint64_t>::max();
      return;
    }
  }
  p.losses.push_back({batch.dictionary.strings.add(reason), count});
}

// A file that Vesta wrote says it already: those samples are the same ones.
void note_negative_samples(ProfileBatch& batch, uint64_t count) {
  const Profile& p = batch.profiles.front();
  const auto is_stated = [&](const Loss& loss) {
    return batch.dictionary.string(loss.reason) == kLossNegative;
  };
  if (std::ranges::none_of(p.losses, is_stated)) add_loss(batch, kLossNegative, count);
}

Status read_comments(std::string_view bytes, const Outline& outline, const StringTable& strings,
                     std::vector<StringId>& comments) {
  for (const uint32_t offset : outline.comments) {
    WireReader field(bytes.substr(offset), bytes.data());
    field.next();
    const bool is_packed = field.type() == WireType::kBytes;
    WireReader numbers = is_packed ? field.message() : field;
    do {
      if (is_packed && numbers.at_end()) break;
      const Placed index{numbers.read_varint(), offset};
      if (!numbers.ok()) return malformed(offset, fmt::format("comment: {}", numbers.problem()));
      VESTA_ASSIGN(const StringId text, checked_string(index, strings, "comment"));
      comments.push_back(text);
    } while (is_packed);
  }
  return {};
}

Status read_profile_fields(std::string_view bytes, const Outline& outline, ProfileBatch& batch) {
  const StringTable& strings = batch.dictionary.strings;
  Profile& p = batch.profiles.front();
  if (outline.sample_types.empty()) {
    return malformed(bytes.size(), "sample_type: missing",
                     "the file is not a pprof profile, or its start is missing");
  }
  for (const uint32_t offset : outline.sample_types) {
    VESTA_ASSIGN(const SampleType type, decode_value_type(bytes, offset, strings, "sample_type"));
    p.sample_types.push_back(type);
  }
  if (!outline.period_types.empty()) {
    VESTA_ASSIGN(p.period_type,
                 decode_value_type(bytes, outline.period_types.front(), strings, "period_type"));
  }
  p.period = outline.period;
  p.time_ns = outline.time_ns;
  p.duration_ns = outline.duration_ns;
  VESTA_ASSIGN(p.doc_url, checked_string(outline.doc_url, strings, "doc_url"));
  VESTA_ASSIGN(p.drop_frames, checked_string(outline.drop_frames, strings, "drop_frames"));
  VESTA_ASSIGN(p.keep_frames, checked_string(outline.keep_frames, strings, "keep_frames"));
  VESTA_ASSIGN(const StringId wanted,
               checked_string(outline.default_sample_type, strings, "default_sample_type"));
  p.default_type = default_type_of(p, wanted, strings);
  return read_comments(bytes, outline, strings, p.comments);
}

// Moves the comments that are losses, after all else: reasons become strings of their own.
void take_losses_from_comments(ProfileBatch& batch) {
  Profile& p = batch.profiles.front();
  std::erase_if(p.comments, [&](StringId comment) {
    uint64_t count = 0;
    std::string_view reason;
    if (!parse_loss(batch.dictionary.string(comment), count, reason)) return false;
    add_loss(batch, std::string(reason), count);
    return true;
  });
}

Result<ProfileBatch> read(std::string_view bytes, const ReadOptions& options) {
  VESTA_TRY(check_input_size("pprof", bytes, options.max_decoded_bytes));
  // Offsets and ids have 32 bits, and each entry takes a byte at least.
  if (bytes.size() > std::numeric_limits<uint32_t>::max())
    return limit_error("pprof", "size in bytes", std::numeric_limits<uint32_t>::max());
  if (bytes.empty()) {
    return malformed(0, "the file is empty",
                     "an endpoint that answers nothing often has profiling disabled");
  }
  if (looks_like_legacy_pprof(bytes)) {
    Error error = malformed(0, "the format is older than profile.proto",
                            "convert it with `go tool pprof -proto BINARY FILE > profile.pb.gz`");
    error.code = ErrorCode::kUnsupported;
    return error;
  }

  ProfileBatch batch;
  Profile& p = batch.profiles.emplace_back();
  VESTA_ASSIGN(const Outline outline, outline_of(bytes, options, batch.dictionary.strings));
  VESTA_TRY(read_profile_fields(bytes, outline, batch));
  TableDecoder tables(bytes, outline, batch.dictionary);
  VESTA_TRY(tables.run());
  SampleDecoder samples(bytes, outline, options, tables.location_ids(), batch.dictionary, p);
  VESTA_TRY(samples.run());

  take_losses_from_comments(batch);
  add_loss(batch, kLossNameTruncated, outline.repairs.truncated);
  add_loss(batch, kLossInvalidUtf8, outline.repairs.invalid_utf8);
  add_loss(batch, kLossStackTruncated, samples.truncated_stacks());
  note_negative_samples(batch, samples.negative_samples());
  return batch;
}

}  // namespace
}  // namespace pprof

Result<ProfileBatch> read_pprof(std::string_view bytes, const ReadOptions& options) {
  return pprof::read(bytes, options);
}

}  // namespace vesta
