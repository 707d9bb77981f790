#include "victim_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include <shared/sample.h>

namespace vesta::agent {
namespace {

constexpr uint64_t kFileMagic = 0x3143524f54534556;
constexpr uint64_t kRecordMagic = 0x314b434154534556;
constexpr size_t kReadBytes = 65536;
constexpr size_t kStackPointer = 7;  // DWARF number

}  // namespace

std::unique_ptr<VictimProcess> VictimProcess::start(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {VESTA_UNWIND_VICTIM, "--wait"});
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  if (::pipe2(input.data(), O_CLOEXEC) != 0 || ::pipe2(output.data(), O_CLOEXEC) != 0)
    return nullptr;
  std::unique_ptr<VictimProcess> victim(new VictimProcess());
  victim->pid_ = ::fork();
  if (victim->pid_ == 0) {
    ::dup2(input[0], STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(input[0]);
  ::close(output[1]);
  victim->input_ = UniqueFd(input[1]);
  victim->output_ = UniqueFd(output[0]);
  if (victim->pid_ < 0 || victim->word() != kFileMagic) return nullptr;
  victim->skip(victim->word());
  return victim->is_good_ ? std::move(victim) : nullptr;
}

VictimProcess::~VictimProcess() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void VictimProcess::go() {
  (void)!::write(input_.get(), "g", 1);
}

bool VictimProcess::next(VictimRecord& record) {
  record = {};
  if (word() != kRecordMagic) return false;
  record.sequence = word();
  record.frames.push_back(word() | VESTA_FRAME_EXACT);
  record.frames.push_back(word());
  for (size_t i = 0; i < VESTA_LEAF_REGISTERS; ++i) {
    const uint64_t value = word();
    if (i == kStackPointer) record.stack_pointer = value;
  }
  const uint64_t frames = word();
  const uint64_t regions = word();
  for (uint64_t i = 0; i < frames && is_good_; ++i) {
    const uint64_t frame = word();
    // What a signal handler returns to was not called by what the signal hit; libgcc does not tell.
    if ((frame & VESTA_FRAME_EXACT) != 0) record.frames.back() |= VESTA_FRAME_EXACT;
    record.frames.push_back(frame);
  }
  for (uint64_t i = 0; i < regions && is_good_; ++i) {
    word();  // its address
    record.region_bytes.push_back(word());
    skip(record.region_bytes.back());
  }
  return is_good_;
}

uint64_t VictimProcess::word() {
  uint64_t value = 0;
  auto* out = reinterpret_cast<char*>(&value);
  size_t missing = sizeof(value);
  while (missing > 0 && is_good_) {
    if (at_ == buffer_.size()) {
      buffer_.resize(kReadBytes);
      const ssize_t got = ::read(output_.get(), buffer_.data(), buffer_.size());
      buffer_.resize(got > 0 ? static_cast<size_t>(got) : 0);
      at_ = 0;
      if (got <= 0) is_good_ = false;
    }
    const size_t take = std::min(missing, buffer_.size() - at_);
    std::memcpy(out, buffer_.data() + at_, take);
    out += take;
    at_ += take;
    missing -= take;
  }
  return is_good_ ? value : 0;
}

void VictimProcess::skip(uint64_t bytes) {
  for (uint64_t i = 0; i < bytes / sizeof(uint64_t) && is_good_; ++i) word();
}

}  // namespace vesta::agent
