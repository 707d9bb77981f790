#include "agent/process/detail_trust.h"

namespace vesta::agent {
namespace {

constexpr uint32_t kToBeTrusted = 8;  // looks without a surprise
constexpr uint32_t kLookAgain = 16;   // one in so many is looked at for ever
constexpr size_t kMaxRecords = 1024;

}  // namespace

DetailTrust::Record& DetailTrust::record(std::string_view parent, std::string_view cgroup) {
  key_.assign(parent);
  key_.push_back('\0');
  key_.append(cgroup);
  const auto found = records_.find(key_);
  if (found != records_.end()) return found->second;
  if (records_.size() >= kMaxRecords) records_.clear();
  return records_[key_];
}

bool DetailTrust::should_look(std::string_view parent, std::string_view cgroup) {
  Record& known = record(parent, cgroup);
  if (known.inherited < kToBeTrusted) return true;
  return ++known.taken_for_granted % kLookAgain == 0;
}

void DetailTrust::note(std::string_view parent, std::string_view cgroup, bool is_inherited) {
  Record& known = record(parent, cgroup);
  known.inherited = is_inherited ? known.inherited + 1 : 0;
}

}  // namespace vesta::agent
