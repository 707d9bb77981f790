// What a process says about itself in its memory, as OTEP 4719 lets OpenTelemetry's libraries do: a
// mapping named OTEL_CTX with a header that points to a Resource. All of it is the other's memory:
// bounded reads, and only from memory whose reading cannot keep us waiting. Pure but for the
// process that is read; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/metadata/attributes.h"
#include "agent/process/proc_files.h"
#include "base/result.h"

namespace vesta::agent {

struct ProcessContext {
  uint64_t published_ns = 0;  // another after each change
  Attributes resource;
};

// Is that the mapping of a context? To be asked while /proc/PID/maps is read.
bool is_process_context(const ProcMapping& mapping);

// Reads the context whose header is at an address, through /proc/PID/mem. kUnavailable when it was
// being written all the time, kInvalidInput when it is not what it should be.
Result<ProcessContext> read_process_context(const ProcDir& process, uint64_t address);

// The message alone: opentelemetry.proto.processcontext.v1development.ProcessContext.
Result<Attributes> decode_process_context(std::string_view message);

}  // namespace vesta::agent
