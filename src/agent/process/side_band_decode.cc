#include "agent/process/side_band_decode.h"

#include <linux/perf_event.h>
#include <sys/sysmacros.h>

#include <cstddef>
#include <cstring>

namespace vesta::agent {
namespace {

// How PERF_RECORD_MMAP2 tells which file it is; PERF_RECORD_MISC_MMAP_BUILD_ID says which.
struct FileField {
  uint32_t major;
  uint32_t minor;
  uint64_t inode;
  uint64_t generation;
};
struct BuildIdField {
  uint8_t size;
  uint8_t reserved[3];
  char bytes[20];
};
static_assert(sizeof(FileField) == 24 && sizeof(BuildIdField) == 24);

// The fixed part of PERF_RECORD_MMAP2; a path follows.
struct Mmap2Body {
  uint32_t pid;
  uint32_t tid;
  uint64_t address;
  uint64_t length;
  uint64_t file_offset;
  char file[24];
  uint32_t prot;
  uint32_t flags;
};
static_assert(sizeof(Mmap2Body) == 64);

struct TaskBody {  // PERF_RECORD_FORK and PERF_RECORD_EXIT
  uint32_t pid;
  uint32_t parent_pid;
  uint32_t tid;
  uint32_t parent_tid;
  uint64_t time_ns;
};
static_assert(sizeof(TaskBody) == 24);

struct CommBody {
  uint32_t pid;
  uint32_t tid;
};

struct KsymbolBody {
  uint64_t address;
  uint32_t length;
  uint16_t type;
  uint16_t flags;
};
static_assert(sizeof(KsymbolBody) == 16);

struct BpfBody {
  uint16_t type;
  uint16_t flags;
  uint32_t id;
};

struct LostBody {
  uint64_t id;
  uint64_t count;
};

template <class T>
bool take(std::string_view& bytes, T& out) {
  if (bytes.size() < sizeof(T)) return false;
  std::memcpy(&out, bytes.data(), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return true;
}

// A name that fills the rest of the record, padded with zeros.
std::string_view padded_text(std::string_view bytes) {
  return bytes.substr(0, bytes.find('\0'));
}

bool decode_mmap(std::string_view body, uint16_t misc, uint64_t time_ns, SideBandEvent& out) {
  Mmap2Body raw{};
  const std::string_view whole = body;
  if (!take(body, raw)) return false;
  if (raw.length == 0 || raw.address + raw.length < raw.address) return false;
  MmapEvent event;
  event.time_ns = time_ns;
  event.pid = raw.pid;
  event.tid = raw.tid;
  event.address = raw.address;
  event.length = raw.length;
  event.file_offset = raw.file_offset;
  event.prot = raw.prot;
  event.flags = raw.flags;
  event.path = padded_text(body);
  if ((misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0) {
    BuildIdField field{};
    std::memcpy(&field, raw.file, sizeof(field));
    if (field.size > sizeof(field.bytes)) return false;
    event.build_id =
        whole.substr(offsetof(Mmap2Body, file) + offsetof(BuildIdField, bytes), field.size);
  } else {
    FileField field{};
    std::memcpy(&field, raw.file, sizeof(field));
    event.device = makedev(field.major, field.minor);
    event.inode = field.inode;
  }
  out = event;
  return true;
}

bool decode_ksymbol(std::string_view body, uint64_t time_ns, SideBandEvent& out) {
  KsymbolBody raw{};
  if (!take(body, raw)) return false;
  KsymbolEvent event;
  event.time_ns = time_ns;
  event.address = raw.address;
  event.length = raw.length;
  event.type = raw.type;
  event.is_unregister = (raw.flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) != 0;
  event.name = padded_text(body);
  out = event;
  return true;
}

}  // namespace

std::string_view next_perf_record(std::string_view& bytes) {
  perf_event_header header{};
  if (bytes.size() < sizeof(header)) return {};
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.size < sizeof(header) || header.size > bytes.size()) return {};
  const std::string_view record = bytes.substr(0, header.size);
  bytes.remove_prefix(header.size);
  return record;
}

SideBandDecode decode_side_band(std::string_view record, SideBandEvent& out) {
  perf_event_header header{};
  std::string_view body = record;
  uint64_t time_ns = 0;
  if (!take(body, header) || body.size() < sizeof(time_ns)) return SideBandDecode::kDamaged;
  std::memcpy(&time_ns, body.data() + body.size() - sizeof(time_ns), sizeof(time_ns));
  body.remove_suffix(sizeof(time_ns));
  bool ok = false;
  switch (header.type) {
    case PERF_RECORD_MMAP2:
      ok = decode_mmap(body, header.misc, time_ns, out);
      break;
    case PERF_RECORD_COMM: {
      CommBody raw{};
      ok = take(body, raw);
      const bool is_exec = (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
      out = CommEvent{time_ns, raw.pid, raw.tid, is_exec, padded_text(body)};
      break;
    }
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT: {
      TaskBody raw{};
      ok = take(body, raw);
      if (header.type == PERF_RECORD_FORK) {
        out = ForkEvent{raw.time_ns, raw.pid, raw.tid, raw.parent_pid, raw.parent_tid};
      } else {
        out = ExitEvent{raw.time_ns, raw.pid, raw.tid};
      }
      break;
    }
    case PERF_RECORD_KSYMBOL:
      ok = decode_ksymbol(body, time_ns, out);
      break;
    case PERF_RECORD_BPF_EVENT: {
      BpfBody raw{};
      ok = take(body, raw);
      out = BpfProgramEvent{time_ns, raw.type, raw.id};
      break;
    }
    case PERF_RECORD_LOST: {
      LostBody raw{};
      ok = take(body, raw);
      out = LostEvent{time_ns, raw.count};
      break;
    }
    default:
      return SideBandDecode::kIgnored;
  }
  return ok ? SideBandDecode::kEvent : SideBandDecode::kDamaged;
}

}  // namespace vesta::agent
