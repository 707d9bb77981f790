#include "agent/lookup/process_lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ProcessLookup : public testing::Test {
 protected:
  void add(uint32_t pid, const std::string& comm, const std::string& exe,
           const std::string& command_line, char state = 'S') const {
    const std::string folder = proc_ + "/" + std::to_string(pid);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/stat")
        << pid << " (" << comm << ") " << state << " 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0";
    std::ofstream(folder + "/cmdline") << command_line;
    if (!exe.empty()) std::filesystem::create_symlink(exe, folder + "/exe");
  }
  std::vector<uint32_t> find(std::string_view name) const {
    return processes_named(list_named_processes(proc_, 99), name);
  }
  TemporaryFolder folder_;
  std::string proc_ = folder_.path();
};

TEST_F(ProcessLookup, FindsByEveryNameThatPeopleUse) {
  using namespace std::string_literals;
  add(10, "nginx", "/usr/sbin/nginx", "nginx: master process /usr/sbin/nginx"s);
  add(11, "nginx", "/usr/sbin/nginx", "nginx: worker process"s);
  add(12, "renamed-itself", "/opt/app/server (deleted)", "/opt/app/server\0--port\0"s);
  add(13, "postgres", "/usr/lib/postgresql/15/bin/postgres",
      "/usr/lib/postgresql/15/bin/postgres"s);
  add(14, "python3", "/usr/bin/python3.11", "python3\0/srv/job.py\0"s);
  EXPECT_THAT(find("nginx"), ElementsAre(10, 11));
  EXPECT_THAT(find("server"), ElementsAre(12));
  EXPECT_THAT(find("renamed-itself"), ElementsAre(12));
  EXPECT_THAT(find("postgres"), ElementsAre(13));
  EXPECT_THAT(find("python3.11"), ElementsAre(14));
  EXPECT_THAT(find("job"), ElementsAre(14));
  EXPECT_THAT(find("job.py"), ElementsAre(14));
}

TEST_F(ProcessLookup, NeverMatchesPartsOfNamesNorOneself) {
  add(10, "nginx-exporter", "/usr/bin/nginx-exporter", "nginx-exporter");
  add(99, "vesta", "/usr/bin/vesta", "vesta");
  EXPECT_THAT(find("nginx"), IsEmpty());
  EXPECT_THAT(find("vesta"), IsEmpty());
  EXPECT_THAT(find(""), IsEmpty());
}

TEST_F(ProcessLookup, LeavesOutWhatHasEnded) {
  add(10, "job", "/bin/job", "job", 'Z');
  EXPECT_THAT(find("job"), IsEmpty());
}

TEST_F(ProcessLookup, ANameThatTheKernelCutCountsWhenNothingElseIsKnown) {
  add(10, "a-very-long-nam", "", "");  // its executable cannot be read
  EXPECT_THAT(find("a-very-long-name-indeed"), ElementsAre(10));
  add(11, "a-very-long-nam", "/bin/a-very-long-name-indeed", "");
  EXPECT_THAT(find("a-very-long-name-indeed"), ElementsAre(11));
}

TEST_F(ProcessLookup, OffersNamesThatComeClose) {
  add(10, "nginx", "/usr/sbin/nginx", "nginx");
  add(11, "nginx-exporter", "/usr/bin/nginx-exporter", "nginx-exporter");
  const auto all = list_named_processes(proc_, 0);
  EXPECT_THAT(similar_names(all, "ngnix", 3), ElementsAre("nginx"));
  EXPECT_THAT(similar_names(all, "exporter", 3), ElementsAre("nginx-exporter"));
  EXPECT_THAT(similar_names(all, "zzzzzzzz", 3), IsEmpty());
}

}  // namespace
}  // namespace vesta::agent
