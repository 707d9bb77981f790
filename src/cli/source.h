// Where profiles come from: a file, standard input, a URL that serves pprof, or a selector that a
// server answers. Plain functions; the only I/O of the reports.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "cli/command.h"
#include "profile/frame_profile.h"
#include "profile/merged_profile.h"
#include "profile/profile.h"

namespace vesta::cli {

// What a picture of the source is called: a file without its folders, a URL without its query.
// Pictures are passed around, and folders may tell more than their owner likes.
std::string source_title(const std::string& source);

// The source as it is, undecoded: what a selector or a URL answers with, or the file.
Result<InputFile> load_source_bytes(const std::string& source, const Arguments& arguments);

// One source. Errors carry its name. A selector is asked for over --from and --to; with a prefix,
// "base-", over --base-from and --base-to where they are given.
Result<ProfileBatch> load_source(const std::string& source, const Arguments& arguments,
                                 std::string_view range_prefix = {});

// Several sources are merged into one, and `--base`, when given, is subtracted.
Result<std::shared_ptr<const ProfileBatch>> load_sources(const std::vector<std::string>& sources,
                                                         const Arguments& arguments,
                                                         Console& console);

// The sources' profile of the type that the flags ask for. kNoData when it has no samples.
Result<MergedProfile> load_profile(const Arguments& arguments, Console& console);

// The same, with filters and everything else that flags ask of frames; with --diff-base, the
// difference to it.
Result<FrameProfile> load_frames(const Arguments& arguments, Console& console);

// Prints a report; kNoData, with a note, when the filters left nothing to report on.
Result<int> print_report(const FrameProfile& frames, const std::string& report, Console& console);

}  // namespace vesta::cli
