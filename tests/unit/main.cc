// The main function of a program that holds the unit tests of a whole layer. ctest runs it once for
// each vesta_test(), which names what it wants of it:
//
//   agent_tests --sources=src/agent/jfr/jfr_folder_test.cc,src/agent/jfr/jfr_live_test.cc
//   store_tests --instances=Rocksdb
//
// --sources selects tests by the file that defines them, --instances by the name that they were
// instantiated with (INSTANTIATE_TEST_SUITE_P). Without either, gtest's own flags decide.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace {

using testing::TestInfo;
using testing::UnitTest;

struct Wanted {
  std::set<std::string, std::less<>> sources;
  std::set<std::string, std::less<>> instances;
};

std::set<std::string, std::less<>> split(std::string_view list) {
  std::set<std::string, std::less<>> parts;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    parts.emplace(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

// "Memory" of "Memory/EngineSuite"; empty where a suite is not one of several instances.
std::string_view instance_of(std::string_view suite) {
  const size_t slash = suite.find('/');
  return slash == std::string_view::npos ? std::string_view{} : suite.substr(0, slash);
}

// From the root of the checkout; with ccache, compilers are given paths from the build folder.
std::string_view source_of(const TestInfo& test) {
  std::string_view file = test.file();
  while (file.starts_with("../")) file.remove_prefix(3);
  return file;
}

bool is_wanted(const Wanted& wanted, const TestInfo& test) {
  const std::string_view instance = instance_of(test.test_suite_name());
  return wanted.sources.contains(source_of(test)) ||
         (!instance.empty() && wanted.instances.contains(instance));
}

// Selects the tests by name, which is all that gtest can. False if that is not what was asked for.
bool select(const Wanted& wanted) {
  std::set<std::string> selected;
  std::set<std::string> others;
  std::set<std::string, std::less<>> missing = wanted.sources;
  missing.insert(wanted.instances.begin(), wanted.instances.end());
  const UnitTest& all = *UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const TestInfo& test = *suite.GetTestInfo(k);
      const std::string name = std::string(test.test_suite_name()) + '.' + test.name();
      (is_wanted(wanted, test) ? selected : others).insert(name);
      missing.erase(std::string(source_of(test)));
      missing.erase(std::string(instance_of(test.test_suite_name())));
    }
  }
  std::string filter;
  for (const std::string& name : selected) {
    if (others.contains(name)) {
      std::fprintf(stderr, "two files define %s; rename one\n", name.c_str());
      return false;
    }
    filter += name + ':';
  }
  for (const std::string& name : missing) {
    std::fprintf(stderr, "no test of this program comes from %s\n", name.c_str());
  }
  testing::GTEST_FLAG(filter) = filter;
  return missing.empty();
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  Wanted wanted;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument.starts_with("--sources=")) {
      wanted.sources = split(argument.substr(argument.find('=') + 1));
    } else if (argument.starts_with("--instances=")) {
      wanted.instances = split(argument.substr(argument.find('=') + 1));
    } else {
      std::fprintf(stderr, "unknown argument %s\n", argv[i]);
      return 2;
    }
  }
  if ((!wanted.sources.empty() || !wanted.instances.empty()) && !select(wanted)) return 2;
  return RUN_ALL_TESTS();
}
