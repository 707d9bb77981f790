// Decodes the samples of a pprof file into the columns of a Profile: the second walk, and where the
// time goes. Refers to everything it is given, which must outlive it. Not thread-safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/common/read_options.h"
#include "formats/pprof/id_map.h"
#include "formats/pprof/labels.h"
#include "formats/pprof/outline.h"
#include "formats/protobuf/wire.h"
#include "profile/profile.h"

namespace vesta::pprof {

class SampleDecoder {
 public:
  // REQUIRES: the dictionary has the file's locations, at the positions that `location_ids` tells;
  // the profile has its sample types.
  SampleDecoder(std::string_view file, const Outline& outline, const ReadOptions& options,
                const IdMap& location_ids, Dictionary& dictionary, Profile& profile);

  Status run();

  // How many stacks were deeper than the limit.
  uint64_t truncated_stacks() const { return truncated_stacks_; }
  // How many samples have a negative value that nothing in the file explains.
  uint64_t negative_samples() const { return negative_samples_; }

 private:
  bool decode(WireReader reader, std::string_view message);
  bool decode_values(std::string_view packed);
  // The usual case: one packed field of small ids. False, without an error, for anything else.
  bool stack_of(std::string_view packed_ids, StackId& stack);
  // Any encoding, any ids, and the errors.
  bool stack_slowly(std::string_view message, StackId& stack);
  void add_row(StackId stack, LabelSetId labels, const LabelMeaning& meaning);
  void reserve_stack_items();
  bool fail(Error error);

  std::string_view file_;
  const Outline& outline_;
  const ReadOptions& options_;
  const IdMap& location_ids_;
  Dictionary& dictionary_;
  Samples& samples_;
  LabelDecoder labels_;
  size_t type_count_;
  std::vector<LocationId> locations_;  // scratch
  std::string_view last_ids_;          // the bytes that last_stack_ came from
  StackId last_stack_;
  uint64_t truncated_stacks_ = 0;
  uint64_t negative_samples_ = 0;
  Error error_;
};

}  // namespace vesta::pprof
