// What the doctor asks the kernel by trying it out, as an interface, so that tests can play any
// kernel. LinuxKernel is the real one. Stateless; any thread may use it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace vesta::agent {

enum class BpfProgramKind {
  kPerfEvent,
  kRawTracepoint,
  kTracingTracepoint,
  kTaskIterator,
  kUprobeMulti,
};

class Kernel {
 public:
  struct Name {
    std::string release;  // uname -r
    std::string version;  // uname -v
    std::string machine;  // uname -m
  };
  struct Limit {
    uint64_t soft = 0;
    uint64_t hard = 0;
  };
  static constexpr uint64_t kUnlimited = UINT64_MAX;

  virtual ~Kernel() = default;
  virtual Name name() const = 0;
  // These return 0 or the errno of the refusal; what was made is gone when they return.
  virtual int load_program(BpfProgramKind kind) const = 0;
  virtual int make_task_storage() const = 0;
  virtual int open_cpu_clock() const = 0;  // for all processes on one CPU
  virtual int open_hardware_cycles() const = 0;
  virtual Limit locked_memory() const = 0;
  virtual Limit open_files() const = 0;
  virtual std::optional<std::string> environment(const std::string& name) const = 0;
};

class LinuxKernel final : public Kernel {
 public:
  Name name() const override;
  int load_program(BpfProgramKind kind) const override;
  int make_task_storage() const override;
  int open_cpu_clock() const override;
  int open_hardware_cycles() const override;
  Limit locked_memory() const override;
  Limit open_files() const override;
  std::optional<std::string> environment(const std::string& name) const override;
};

}  // namespace vesta::agent
