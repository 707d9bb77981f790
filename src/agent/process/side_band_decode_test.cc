#include "agent/process/side_band_decode.h"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>

#include "agent/process/side_band.h"
#include "agent/process/test_record.h"

namespace vesta::agent {
namespace {

template <class T>
T decode(std::string_view record) {
  SideBandEvent event;
  EXPECT_EQ(decode_side_band(record, event), SideBandDecode::kEvent);
  EXPECT_TRUE(std::holds_alternative<T>(event));
  return std::holds_alternative<T>(event) ? std::get<T>(event) : T();
}

TEST(SideBandDecode, ReadsMmapWithBuildId) {
  const std::string id = "0123456789abcdefghij";
  const std::string record = make_mmap_record(PERF_RECORD_MISC_MMAP_BUILD_ID, 7, 0x1000, 0x2000,
                                              0x3000, make_build_id_field(id), "/usr/bin/true", 99);
  const auto event = decode<MmapEvent>(record);
  EXPECT_EQ(event.pid, 7);
  EXPECT_EQ(event.address, 0x1000);
  EXPECT_EQ(event.length, 0x2000);
  EXPECT_EQ(event.file_offset, 0x3000);
  EXPECT_EQ(event.prot, 5);
  EXPECT_EQ(event.path, "/usr/bin/true");
  EXPECT_EQ(event.build_id, id);
  EXPECT_EQ(event.inode, 0);
  EXPECT_EQ(event.time_ns, 99);
}

TEST(SideBandDecode, ReadsMmapWithInode) {
  std::string file;
  append_value(file, uint32_t{8});
  append_value(file, uint32_t{1});
  append_value(file, uint64_t{4711});
  append_value(file, uint64_t{0});
  const std::string record = make_mmap_record(0, 7, 0x1000, 0x2000, 0, file, "/usr/bin/true", 99);
  const auto event = decode<MmapEvent>(record);
  EXPECT_TRUE(event.build_id.empty());
  EXPECT_EQ(event.device, makedev(8, 1));
  EXPECT_EQ(event.inode, 4711);
}

TEST(SideBandDecode, TellsExecFromRename) {
  const std::string record = make_comm_record(PERF_RECORD_MISC_COMM_EXEC, 3, "sh", 5);
  EXPECT_TRUE(decode<CommEvent>(record).is_exec);
  EXPECT_EQ(decode<CommEvent>(record).name, "sh");
  EXPECT_FALSE(decode<CommEvent>(make_comm_record(0, 3, "sh", 5)).is_exec);
}

TEST(SideBandDecode, ReadsForkAndExit) {
  const auto fork = decode<ForkEvent>(make_task_record(PERF_RECORD_FORK, 10, 9, 11, 77));
  EXPECT_EQ(fork.pid, 10);
  EXPECT_EQ(fork.parent_pid, 9);
  EXPECT_EQ(fork.tid, 11);
  EXPECT_EQ(fork.time_ns, 77);
  EXPECT_EQ(decode<ExitEvent>(make_task_record(PERF_RECORD_EXIT, 10, 9, 11, 78)).tid, 11);
}

TEST(SideBandDecode, ReadsLossAndKernelCode) {
  std::string body;
  append_value(body, uint64_t{1});
  append_value(body, uint64_t{42});
  EXPECT_EQ(decode<LostEvent>(make_record(PERF_RECORD_LOST, 0, body, 1)).count, 42);
  body.clear();
  append_value(body, uint64_t{0xffffffffc0000000});
  append_value(body, uint32_t{128});
  append_value(body, uint16_t{PERF_RECORD_KSYMBOL_TYPE_BPF});
  append_value(body, uint16_t{PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER});
  body += padded("bpf_prog_1234");
  const std::string record = make_record(PERF_RECORD_KSYMBOL, 0, body, 1);
  const auto symbol = decode<KsymbolEvent>(record);
  EXPECT_EQ(symbol.name, "bpf_prog_1234");
  EXPECT_TRUE(symbol.is_unregister);
}

TEST(SideBandDecode, RefusesWhatIsCutOff) {
  const std::string whole = make_mmap_record(PERF_RECORD_MISC_MMAP_BUILD_ID, 7, 0x1000, 0x2000, 0,
                                             make_build_id_field("01234567"), "", 99);
  SideBandEvent event;
  for (size_t size = 8; size < 8 + 64 + 8; ++size) {
    EXPECT_EQ(decode_side_band(std::string_view(whole).substr(0, size), event),
              SideBandDecode::kDamaged)
        << size;
  }
}

TEST(SideBandDecode, RefusesImpossibleRangesAndBuildIds) {
  SideBandEvent event;
  const std::string id = make_build_id_field("01234567");
  EXPECT_EQ(decode_side_band(make_mmap_record(0, 7, UINT64_MAX - 4, 4096, 0, id, "x", 9), event),
            SideBandDecode::kDamaged);
  std::string too_long = id;
  too_long[0] = 21;
  EXPECT_EQ(decode_side_band(make_mmap_record(PERF_RECORD_MISC_MMAP_BUILD_ID, 7, 4096, 4096, 0,
                                              too_long, "x", 9),
                             event),
            SideBandDecode::kDamaged);
}

TEST(SideBandDecode, SplitsRecordsAndStopsAtNonsense) {
  const std::string one = make_comm_record(0, 3, "one", 5);
  std::string bytes = one + one;
  append_value(bytes, uint64_t{0});  // a header of size 0
  std::string_view rest = bytes;
  EXPECT_EQ(next_perf_record(rest), one);
  EXPECT_EQ(next_perf_record(rest), one);
  EXPECT_TRUE(next_perf_record(rest).empty());
  EXPECT_FALSE(rest.empty());
}

}  // namespace
}  // namespace vesta::agent
