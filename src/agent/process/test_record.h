// Builds perf side-band records as the kernel writes them. For tests and fuzz seeds only.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace vesta::agent {

template <class T>
void append_value(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

inline std::string padded(std::string_view text) {
  std::string out(text);
  out.append(8 - out.size() % 8, '\0');
  return out;
}

inline std::string make_record(uint32_t type, uint16_t misc, std::string_view body,
                               uint64_t time_ns) {
  std::string out;
  append_value(out, type);
  append_value(out, misc);
  append_value(out, static_cast<uint16_t>(8 + body.size() + 8));
  out += body;
  append_value(out, time_ns);
  return out;
}

// `file` is the 24 bytes that tell it: a build id, or device, inode and generation.
inline std::string make_mmap_record(uint16_t misc, uint32_t pid, uint64_t address, uint64_t length,
                                    uint64_t offset, std::string_view file, std::string_view path,
                                    uint64_t time_ns) {
  std::string body;
  append_value(body, pid);
  append_value(body, pid);
  append_value(body, address);
  append_value(body, length);
  append_value(body, offset);
  body += file;
  append_value(body, uint32_t{5});
  append_value(body, uint32_t{2});
  body += padded(path);
  return make_record(PERF_RECORD_MMAP2, misc, body, time_ns);
}

inline std::string make_build_id_field(std::string_view id) {
  std::string out(24, '\0');
  out[0] = static_cast<char>(id.size());
  out.replace(4, id.size(), id);
  return out;
}

inline std::string make_comm_record(uint16_t misc, uint32_t pid, std::string_view name,
                                    uint64_t time_ns) {
  std::string body;
  append_value(body, pid);
  append_value(body, pid);
  body += padded(name);
  return make_record(PERF_RECORD_COMM, misc, body, time_ns);
}

inline std::string make_task_record(uint32_t type, uint32_t pid, uint32_t parent, uint32_t tid,
                                    uint64_t time_ns) {
  std::string body;
  append_value(body, pid);
  append_value(body, parent);
  append_value(body, tid);
  append_value(body, parent);
  append_value(body, time_ns);
  return make_record(type, 0, body, time_ns);
}

}  // namespace vesta::agent
