#include "server/access/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "testing/temporary_folder.h"

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

Caller holder_of_token(const std::string& address) {
  Caller caller;
  caller.tenant = "a";
  caller.token = "ci";
  caller.address = address;
  return caller;
}

RequestRecord refusal_of(const Caller& caller, std::string_view target) {
  RequestRecord record = record_of(caller, target, Scope::kNone, 401);
  record.rejected = "unauthenticated";
  return record;
}

TEST(AuditLog, NotesReadsAdminAndRefusals) {
  const TemporaryFolder folder;
  const Caller caller = holder_of_token("1.2.3.4");
  {
    auto log = AuditLog::open(AuditOptions::in(folder.path("")));
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
  const TemporaryFolder folder;
  const Caller caller;
  {
    AuditOptions options = AuditOptions::in(folder.path(""));
    options.known.max_bytes = options.unknown.max_bytes = 4096;
    options.known.files = 3;
    options.unknown.files = 2;
    options.max_queued = 1'000'000;
    auto log = AuditLog::open(options);
    const std::string target(1000, 'x');
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 10; ++i) {
        (*log)->note(record_of(caller, target, Scope::kRead, 200));
        (*log)->note(refusal_of(caller, target));
      }
    }
  }
  uint64_t bytes = 0;
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(""))) {
    bytes += entry.file_size();
    ++files;
  }
  EXPECT_LE(files, 3U + 2U);
  // One block may be larger than a file should be.
  EXPECT_LE(bytes, 5U * (4096 + 65 * 1024));
}

TEST(AuditLog, RefusalsOfStrangersPushNothingOut) {
  const TemporaryFolder folder;
  const Caller stranger;
  const Caller reader = holder_of_token("");
  {
    AuditOptions options = AuditOptions::in(folder.path(""));
    options.known.max_bytes = options.unknown.max_bytes = 64 * 1024;
    options.max_queued = 100;
    auto log = AuditLog::open(options);
    (*log)->note(record_of(reader, "/first", Scope::kRead, 200));
    const std::string target(1000, 'x');
    for (int i = 0; i < 5000; ++i) (*log)->note(refusal_of(stranger, target));
    // Neither from the files nor from the queue.
    (*log)->note(record_of(reader, "/last", Scope::kAdmin, 200));
    (*log)->note(refusal_of(reader, "/more-than-the-token-may"));
  }
  const std::string text = contents(folder.path("audit.log"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
  EXPECT_THAT(text, HasSubstr("/first"));
  EXPECT_THAT(text, HasSubstr("/last"));
  EXPECT_THAT(text, HasSubstr("/more-than-the-token-may"));
  EXPECT_THAT(contents(folder.path("refused.log")), HasSubstr("xxxx"));
}

TEST(AuditLog, CountsWhatItDrops) {
  const TemporaryFolder folder;
  const Caller caller;
  AuditOptions options = AuditOptions::in(folder.path(""));
  options.max_queued = 0;
  auto log = AuditLog::open(options);
  (*log)->note(record_of(caller, "/a", Scope::kRead, 200));
  EXPECT_EQ((*log)->dropped(), 1U);
}

}  // namespace
}  // namespace vesta::server
