#include "cli/roles/self_profile.h"

#include <unistd.h>

#include <thread>

#include "agent/profiles/recording.h"
#include "formats/registry.h"
#include "unwind/table_cache.h"

namespace vesta::cli {

Result<std::string> profile_this_process(std::chrono::seconds time) {
  agent::RecordingOptions options;
  options.sampling.targets.pids = {static_cast<uint32_t>(::getpid())};
  options.sampling.cache_folder = UnwindTableCache::default_folder();
  VESTA_ASSIGN(const std::unique_ptr<agent::Recording> recording, agent::Recording::start(options));
  std::this_thread::sleep_for(time);
  VESTA_ASSIGN(const ProfileBatch batch, recording->finish());
  return encode_for_path(batch, "profile.pb.gz", {});
}

}  // namespace vesta::cli
