// "Sends" profiles into a folder, one file each, and keeps the folder within its bounds: the oldest
// of the files that it wrote go, now or in an earlier run; files of others stay and do not count.
// See payload.h for threads and ownership.
#pragma once

#include <memory>
#include <string_view>

#include "agent/config/agent_config.h"
#include "agent/export/codecs/payload.h"
#include "base/result.h"

namespace vesta::agent {

// kIo when the folder cannot be made or read.
Result<std::unique_ptr<Sender>> make_file_sender(const ExporterConfig& config);

// Whether a file of that name is one of ours,
// "checkout_4242_20261115T131405.123Z_process_cpu.pb.gz" or the same with "-2" before the ending,
// and the part that sorts by time.
std::string_view time_in_file_name(std::string_view name);

}  // namespace vesta::agent
