#include "agent/metadata/process_context.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "agent/metadata/environment.h"
#include "formats/otlp/attribute_reader.h"

namespace vesta::agent {
namespace {

constexpr std::string_view kSignature = "OTEL_CTX";
constexpr uint32_t kVersion = 2;
constexpr uint32_t kMaxPayloadBytes = 64 * 1024;
constexpr int kTries = 3;
// Names in /proc/PID/maps, by how the mapping was made.
constexpr std::array<std::string_view, 2> kAnonymousNames = {"[anon_shmem:OTEL_CTX]",
                                                             "[anon:OTEL_CTX]"};
constexpr std::string_view kMemfdName = "/memfd:OTEL_CTX";

struct Header {
  char signature[8];
  uint32_t version;
  uint32_t payload_bytes;
  uint64_t published_ns;  // 0 while it is being written
  uint64_t payload;       // an address
};
static_assert(sizeof(Header) == 32);

Error context_error(ErrorCode code, std::string_view what) {
  return {code, fmt::format("OpenTelemetry process context: {}", what), ""};
}

// The device of files that memfd_create() makes: nothing but memory is behind them.
uint64_t memfd_device() {
  const UniqueFd fd(::memfd_create("vesta", MFD_CLOEXEC));
  struct stat info {};
  return fd.valid() && ::fstat(fd.get(), &info) == 0 ? info.st_dev : 0;
}

// Reading memory that a file on a network or of a FUSE server stands behind may wait for that
// server. (userfaultfd does not: /proc/PID/mem gives up where process_vm_readv() would wait.)
bool is_only_memory(const ProcMapping& mapping) {
  static const uint64_t kMemfdDevice = memfd_device();
  return mapping.inode == 0 || mapping.device == kMemfdDevice;
}

bool read_exactly(int memory, uint64_t address, char* out, size_t size) {
  size_t done = 0;
  while (done < size && address + done <= INT64_MAX) {
    const ssize_t got =
        ::pread(memory, out + done, size - done, static_cast<off_t>(address + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<size_t>(got);
  }
  return done == size;
}

bool is_readable_memory(const ProcDir& process, uint64_t address, uint64_t size) {
  bool found = false;
  const auto lines = process.read_maps([&](const ProcMapping& mapping) {
    if (address >= mapping.start && address < mapping.end && size <= mapping.end - address)
      found = is_only_memory(mapping);
  });
  return lines && found;
}

}  // namespace

bool is_process_context(const ProcMapping& mapping) {
  for (const std::string_view name : kAnonymousNames) {
    if (mapping.path.starts_with(name)) return is_only_memory(mapping);
  }
  return mapping.path.starts_with(kMemfdName) && is_only_memory(mapping);
}

Result<ProcessContext> read_process_context(const ProcDir& process, uint64_t address) {
  const UniqueFd memory(::openat(process.fd(), "mem", O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!memory.valid())
    return context_error(ErrorCode::kPermission, "cannot read the memory of the process");
  const auto read_header = [&](Header& header) {
    return read_exactly(memory.get(), address, reinterpret_cast<char*>(&header), sizeof(header));
  };
  for (int i = 0; i < kTries; ++i) {
    Header header{};
    if (!read_header(header)) return context_error(ErrorCode::kNotFound, "it has disappeared");
    if (std::string_view(header.signature, sizeof(header.signature)) != kSignature)
      return context_error(ErrorCode::kInvalidInput, "no signature");
    if (header.version != kVersion) {
      return context_error(ErrorCode::kUnsupported,
                           fmt::format("unknown version {}", header.version));
    }
    if (header.published_ns == 0) continue;
    if (header.payload_bytes > kMaxPayloadBytes) {
      return context_error(ErrorCode::kLimit, fmt::format("{} bytes exceed the limit of {}",
                                                          header.payload_bytes, kMaxPayloadBytes));
    }
    std::string payload(header.payload_bytes, '\0');
    // Looked at each time: the pointer may have changed.
    const bool is_read =
        payload.empty() ||
        (is_readable_memory(process, header.payload, payload.size()) &&
         read_exactly(memory.get(), header.payload, payload.data(), payload.size()));
    Header after{};
    if (!read_header(after)) return context_error(ErrorCode::kNotFound, "it has disappeared");
    if (std::memcmp(&after, &header, sizeof(header)) != 0) continue;
    if (!is_read)
      return context_error(ErrorCode::kInvalidInput, "it points to memory that cannot be read");
    ProcessContext out;
    out.published_ns = header.published_ns;
    VESTA_ASSIGN(out.resource, decode_process_context(payload));
    return out;
  }
  return context_error(ErrorCode::kUnavailable, "it was being written");
}

Result<Attributes> decode_process_context(std::string_view message) {
  constexpr uint32_t kResourceField = 1;   // of ProcessContext
  constexpr uint32_t kAttributeField = 1;  // of Resource: repeated KeyValue
  Dictionary dictionary;
  const ReadOptions options;
  otlp::Decoding decoding(options, dictionary, false);
  Attributes out;
  const auto read_resource = [&](WireReader resource) {
    while (resource.next()) {
      WireReader pair;
      otlp::KeyValue attribute;
      std::string text;
      if (resource.field() != kAttributeField) {
        resource.skip();
      } else if (!decoding.message(resource, "attributes", pair) ||
                 !otlp::read_key_value(decoding, pair, attribute) ||
                 !otlp::value_text(decoding, attribute.value, text)) {
        return false;
      } else if (const std::string_view key = dictionary.string(attribute.key);
                 out.size() < kMaxOwnAttributes && !is_private_attribute(key) &&
                 !describes_sender(key) && attribute.value.kind != otlp::ValueKind::kNone) {
        set_attribute(out, key, text);
      }
    }
    return decoding.well_formed(resource);
  };
  WireReader reader(message);
  while (reader.next()) {
    WireReader resource;
    if (reader.field() != kResourceField) {
      reader.skip();
    } else if (!decoding.message(reader, "resource", resource) || !read_resource(resource)) {
      return with_context(decoding.take_error(), "OpenTelemetry process context");
    }
  }
  if (!decoding.well_formed(reader))
    return with_context(decoding.take_error(), "OpenTelemetry process context");
  return out;
}

}  // namespace vesta::agent
