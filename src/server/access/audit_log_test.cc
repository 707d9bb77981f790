#include "server/access/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "server/testing/temporary_folder.h"

namespace vesta::server {
namespace {

using ::testing::HasSubstr;

std::string contents(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

RequestRecord record_of(const Caller& caller, std::string_view target, Scope scope, int status) {
  RequestRecord record;
  record.transport = "http";
  record.method = "GET";
  record.target = target;
  record.caller = &caller;
  record.scope = scope;
  record.status = status;
  record.bytes_out = 42;
  record.duration = std::chrono::milliseconds(3);
  return record;
}

TEST(AuditLog, NotesReadsAdminAndRefusals) {
  const testing::TemporaryFolder folder;
  const Caller caller{
      .tenant = "a", .token = "ci", .scopes = {}, .address = "1.2.3.4", .headers = {}};
  {
    auto log = AuditLog::open({.path = folder.path("audit.log")});
    ASSERT_TRUE(log.ok());
    (*log)->note(record_of(caller, "/flame?q=\"x\n\"", Scope::kRead, 200));
    (*log)->note(record_of(caller, "/delete", Scope::kAdmin, 200));
    (*log)->note(record_of(caller, "/ingest", Scope::kWrite, 200));
    (*log)->note(record_of(caller, "/healthz", Scope::kNone, 200));
    (*log)->note(record_of(caller, "/ingest?denied", Scope::kWrite, 401));
  }
  const std::string text = contents(folder.path("audit.log"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
  EXPECT_THAT(text, HasSubstr(R"("tenant":"a","token":"ci","address":"1.2.3.4")"));
  EXPECT_THAT(text, HasSubstr(R"(/flame?q=\"x\n\")"));
  EXPECT_THAT(text, HasSubstr(R"("status":200,"bytes":42,"ms":3)"));
  EXPECT_THAT(text, HasSubstr("/ingest?denied"));
}

TEST(AuditLog, IsBoundedOnDisk) {
  const testing::TemporaryFolder folder;
  const Caller caller;
  {
    AuditOptions options{.path = folder.path("audit.log")};
    options.max_file_bytes = 4096;
    options.files = 3;
    options.max_queued = 1'000'000;
    auto log = AuditLog::open(options);
    const std::string target(1000, 'x');
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 10; ++i) (*log)->note(record_of(caller, target, Scope::kRead, 200));
    }
  }
  uint64_t bytes = 0;
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(""))) {
    bytes += entry.file_size();
    ++files;
  }
  EXPECT_LE(files, 3U);
  // One block may be larger than a file should be.
  EXPECT_LE(bytes, 3U * (4096 + 65 * 1024));
}

TEST(AuditLog, CountsWhatItDrops) {
  const testing::TemporaryFolder folder;
  const Caller caller;
  AuditOptions options{.path = folder.path("audit.log")};
  options.max_queued = 0;
  auto log = AuditLog::open(options);
  (*log)->note(record_of(caller, "/a", Scope::kRead, 200));
  EXPECT_EQ((*log)->dropped(), 1U);
}

}  // namespace
}  // namespace vesta::server
