// Flags that many commands share, and what they mean. Plain functions.
#pragma once

#include <vector>

#include "cli/command.h"
#include "formats/common/read_options.h"
#include "formats/table/report.h"
#include "profile/frame_profile.h"

namespace vesta::cli {

std::vector<Flag> file_flags();    // limits, forced format
std::vector<Flag> input_flags();   // those, and server and range of selectors
std::vector<Flag> filter_flags();  // type, focus … tag-ignore, granularity
std::vector<Flag> report_flags();  // output, unit, nodes
std::vector<Flag> global_flags();  // help, color

// The group without a flag that means nothing to a command.
std::vector<Flag> without(std::vector<Flag> flags, std::string_view name);

// All of them in the order in which help shows them, after the command's own.
std::vector<Flag> with_flags(std::vector<Flag> own,
                             std::initializer_list<std::vector<Flag>> groups);

Result<ReadOptions> read_options_of(const Arguments& arguments);
FrameFilters filters_of(const Arguments& arguments);
FrameOptions frame_options_of(const Arguments& arguments);
// `default_rows` is for text only: programs get everything unless they ask for less.
Result<ReportOptions> report_options_of(const Arguments& arguments, const Console& console,
                                        size_t default_rows);
TopOrder order_of(const Arguments& arguments);

}  // namespace vesta::cli
