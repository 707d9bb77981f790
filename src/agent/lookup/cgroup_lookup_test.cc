#include "agent/lookup/cgroup_lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kFirstId(64, 'a');
const std::string kSecondId = "ab" + std::string(62, 'c');

class CgroupLookup : public testing::Test {
 protected:
  void SetUp() override {
    tree_.root = folder_.path();
    tree_.has_processes = [this](const std::string& folder) {
      return std::ranges::any_of(populated_, [&](const std::string& one) {
        return (one + "/").starts_with(folder + "/");
      });
    };
    tree_.container_name = [](const CgroupIdentity&) { return std::string(); };
  }

  std::string add(const std::string& path, bool is_populated = true) {
    const std::string folder = tree_.root + "/" + path;
    std::filesystem::create_directories(folder);
    if (is_populated) populated_.insert(folder);
    return folder;
  }
  void make_unified(const std::string& hierarchy = "") {
    std::filesystem::create_directories(tree_.root + "/" + hierarchy);
    std::ofstream(tree_.root + "/" + hierarchy + "/cgroup.controllers") << "cpu\n";
  }
  TemporaryFolder folder_;
  CgroupTree tree_;
  std::set<std::string> populated_;
};

TEST_F(CgroupLookup, PathsAreAbsoluteOrAsInProc) {
  make_unified();
  const std::string folder = add("system.slice/nginx.service");
  for (const std::string& path : {folder, std::string("/system.slice/nginx.service"),
                                  std::string("system.slice/nginx.service")}) {
    const auto found = find_cgroup(tree_, path);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_THAT(*found, ElementsAre(folder)) << path;
  }
}

TEST_F(CgroupLookup, NothingOutsideOfTheTreeIsACgroup) {
  make_unified();
  add("a");
  for (const char* path : {"/etc", "../../etc", "/missing", ""}) {
    const auto found = find_cgroup(tree_, path);
    if (*path == '\0') continue;  // the root of the hierarchy
    ASSERT_FALSE(found.ok()) << path;
    EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
  }
}

TEST_F(CgroupLookup, WhereBothVersionsAreTheSecondIsPreferredIfAnythingRunsThere) {
  make_unified("unified");
  const std::string unified = add("unified/jobs", false);
  const std::string cpu = add("cpu/jobs");
  EXPECT_THAT(*find_cgroup(tree_, "jobs"), ElementsAre(cpu));
  EXPECT_THAT(*find_cgroup(tree_, "cpu/jobs"), ElementsAre(cpu));
  populated_.insert(unified);
  EXPECT_THAT(*find_cgroup(tree_, "jobs"), ElementsAre(unified));
}

TEST_F(CgroupLookup, AnEmptyCgroupIsAnError) {
  make_unified();
  add("idle", false);
  const auto found = find_cgroup(tree_, "idle");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().message, "no process runs in cgroup idle");
}

TEST_F(CgroupLookup, UnitsHaveTheirSuffixOrNot) {
  make_unified();
  const std::string folder = add("system.slice/nginx.service");
  add("system.slice/nginx.service/inner");
  add("system.slice/other.service");
  EXPECT_THAT(*find_unit(tree_, "nginx"), ElementsAre(folder));
  EXPECT_THAT(*find_unit(tree_, "nginx.service"), ElementsAre(folder));
  const auto missing = find_unit(tree_, "ngnix");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().hint, "did you mean nginx.service?");
}

TEST_F(CgroupLookup, ContainersAreFoundByTheBeginningOfTheirId) {
  make_unified();
  const std::string first = add("system.slice/docker-" + kFirstId + ".scope");
  const std::string second = add("kubepods.slice/cri-containerd-" + kSecondId + ".scope");
  EXPECT_THAT(*find_container(tree_, "aaaaaaaa"), ElementsAre(first));
  EXPECT_THAT(*find_container(tree_, kSecondId), ElementsAre(second));
  EXPECT_THAT(*find_container(tree_, "abcc"), ElementsAre(second));
  EXPECT_FALSE(find_container(tree_, "ffff").ok());
  // Too short for an id.
  EXPECT_FALSE(find_container(tree_, "ab").ok());
}

TEST_F(CgroupLookup, AnIdThatSeveralContainersBeginWithIsAQuestion) {
  make_unified();
  add("docker-abcd" + std::string(60, '1') + ".scope");
  add("docker-abcd" + std::string(60, '2') + ".scope");
  const auto found = find_container(tree_, "abcd");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kUsage);
  EXPECT_THAT(found.error().hint, HasSubstr("abcd1111"));
}

TEST_F(CgroupLookup, ContainersHaveNames) {
  make_unified();
  const std::string folder = add("docker-" + kFirstId + ".scope");
  add("docker-" + kSecondId + ".scope");
  tree_.container_name = [](const CgroupIdentity& identity) {
    return identity.container_id == kFirstId ? "web" : "";
  };
  EXPECT_THAT(*find_container(tree_, "web"), ElementsAre(folder));
  EXPECT_THAT(*find_container(tree_, "/web"), ElementsAre(folder));
  EXPECT_FALSE(find_container(tree_, "webb").ok());
}

}  // namespace
}  // namespace vesta::agent
