"""The thread-safety check refuses what touches a guarded member without its mutex, and nothing else."""

import runpy
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402

CHECKER = runpy.run_path(str(support.ROOT / "scripts" / "check-threads"))

COUNTER = """
#include "base/mutex.h"
class Counter {{
 public:
  {body}
 private:
  void add() REQUIRES(mutex_) {{ ++count_; }}
  vesta::Mutex mutex_;
  vesta::CondVar changed_;
  int count_ GUARDED_BY(mutex_) = 0;
  vesta::SharedMutex table_mutex_;
  int table_ GUARDED_BY(table_mutex_) = 0;
}};
"""


class CheckThreads(unittest.TestCase):
    def check(self, body):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "counter.cc"
            source.write_text(COUNTER.format(body=body))
            command = f"g++ -std=c++20 -Wrestrict -I{support.ROOT}/src -c {source}"
            return CHECKER["check"]({"directory": folder, "file": str(source), "command": command}, folder)

    def assert_clean(self, body):
        code, text = self.check(body)
        self.assertEqual(code, 0, text)

    def assert_refused(self, body, why):
        code, text = self.check(body)
        self.assertNotEqual(code, 0, f"went through: {body}")
        self.assertIn(why, text)

    def test_a_guarded_member_needs_its_mutex(self):
        self.assert_clean("int get() { const vesta::MutexLock lock(mutex_); return count_; }")
        self.assert_refused("int get() { return count_; }", "reading variable 'count_' requires holding mutex 'mutex_'")
        self.assert_refused(
            "int get() { vesta::MutexLock lock(mutex_); lock.unlock(); return count_; }", "requires holding mutex"
        )

    def test_a_function_that_requires_the_mutex_needs_it(self):
        self.assert_clean("void more() { const vesta::MutexLock lock(mutex_); add(); }")
        self.assert_refused("void more() { add(); }", "calling function 'add' requires holding mutex 'mutex_'")

    def test_a_condition_says_that_it_runs_under_the_mutex(self):
        wait = "void wait() {{ vesta::MutexLock lock(mutex_); changed_.wait(lock, [this]{} {{ return count_ > 0; }}); }}"
        self.assert_clean(wait.format("() REQUIRES(mutex_)"))
        self.assert_refused(wait.format(""), "requires holding mutex")

    def test_readers_may_not_write(self):
        self.assert_clean("int get() { const vesta::ReaderLock lock(table_mutex_); return table_; }")
        self.assert_clean("void set() { const vesta::WriterLock lock(table_mutex_); table_ = 1; }")
        self.assert_refused("void set() { const vesta::ReaderLock lock(table_mutex_); table_ = 1; }", "exclusively")

    def test_a_mutex_taken_by_a_try_may_be_adopted(self):
        self.assert_clean(
            "void set() { if (!mutex_.try_lock()) return; const vesta::MutexLock lock(mutex_, std::adopt_lock);"
            " count_ = 1; }"
        )

    def test_sources_with_annotations_are_found(self):
        self.assertTrue(CHECKER["is_concerned"](str(support.ROOT / "src/server/rpc/worker_pool.cc")))
        self.assertFalse(CHECKER["is_concerned"](str(support.ROOT / "src/base/units.cc")))

    def test_sources_are_found_through_headers_with_public_annotations(self):
        # Includes store.h through the header of queries only.
        self.assertTrue(CHECKER["is_concerned"](str(support.ROOT / "src/store/rocksdb/query/select.cc")))
        # Includes the worker pool's header through others, which has private ones.
        self.assertFalse(CHECKER["is_concerned"](str(support.ROOT / "src/server/native/tree_routes.cc")))

    def assert_public(self, expected, text):
        with tempfile.NamedTemporaryFile("w", suffix=".h") as header:
            header.write(text)
            header.flush()
            self.assertEqual(CHECKER["is_public"](header.name), expected, text)

    def test_annotations_are_public_where_every_scope_around_them_is(self):
        self.assert_public(True, "namespace a { struct S { Mutex mutex; int n GUARDED_BY(mutex); }; }")
        self.assert_public(True, "class C { public: void f() REQUIRES(mutex_); private: Mutex mutex_; };")
        self.assert_public(False, "class C { public: void f() { g(); } private: int n_ GUARDED_BY(mutex_); };")
        self.assert_public(False, "class C { public: int f(); private: struct S { int n GUARDED_BY(mutex); }; };")
        self.assert_public(False, "struct S { int n; };  // GUARDED_BY(mutex)")
        self.assert_public(True, "class A { class B; public: enum class E { kOne }; void f() REQUIRES(m); };")


if __name__ == "__main__":
    support.main()
