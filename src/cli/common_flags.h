// Flags that many commands share, and what they mean. Plain functions.
#pragma once

#include <vector>

#include "cli/command.h"
#include "formats/common/read_options.h"
#include "profile/frame_names.h"
#include "profile/frame_profile.h"
#include "profile/label_frames.h"
#include "reports/print/report.h"

namespace vesta::cli {

std::vector<Flag> file_flags();        // limits, forced format
std::vector<Flag> input_flags();       // those, and server and range of selectors
std::vector<Flag> filter_flags();      // type, focus … tag-leaf, granularity
std::vector<Flag> label_name_flags();  // tag-show, tag-hide
std::vector<Flag> difference_flags();  // diff-base, normalize, drop-negative
std::vector<Flag> report_flags();      // output, unit, nodes
std::vector<Flag> global_flags();      // help, color

// The group without the flags that mean nothing to a command.
std::vector<Flag> without(std::vector<Flag> flags, std::initializer_list<std::string_view> names);

// All of them in the order in which help shows them, after the command's own.
std::vector<Flag> with_flags(std::vector<Flag> own,
                             std::initializer_list<std::vector<Flag>> groups);

Result<ReadOptions> read_options_of(const Arguments& arguments);
FrameFilters filters_of(const Arguments& arguments);
FrameOptions frame_options_of(const Arguments& arguments);
LabelFrames label_frames_of(const Arguments& arguments);
// `default_rows` is for text only: programs get everything unless they ask for less.
Result<ReportOptions> report_options_of(const Arguments& arguments, const Console& console,
                                        size_t default_rows);
// kUsage when --unit cannot print values of that unit: megabytes for seconds.
Status check_unit(const Arguments& arguments, std::string_view unit);
TopOrder order_of(const Arguments& arguments);

}  // namespace vesta::cli
