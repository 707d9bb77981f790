// The locks of the project: standard ones that clang's thread-safety analysis can see. A member
// says which mutex guards it (GUARDED_BY), a function which one its caller holds (REQUIRES);
// scripts/check-threads compiles with clang and makes every access without the lock an error. With
// GCC the annotations are empty.
//
//   void add(int n) { const MutexLock lock(mutex_); sum_ += n; }
//   Mutex mutex_;
//   int sum_ GUARDED_BY(mutex_) = 0;
//
// A lambda is a function of its own for the analysis: one that runs under the lock, as the
// condition of a wait, says so.
//
//   changed_.wait(lock, [this]() REQUIRES(mutex_) { return sum_ > 0; });
#pragma once

#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#if defined(__clang__)
#define VESTA_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define VESTA_THREAD_ATTRIBUTE(x)
#endif

// Of classes that are locks, then of what they guard and of functions.
#define CAPABILITY(x) VESTA_THREAD_ATTRIBUTE(capability(x))
#define SCOPED_CAPABILITY VESTA_THREAD_ATTRIBUTE(scoped_lockable)
// Headers of gRPC define these two as well, with the same meaning.
#undef GUARDED_BY
#undef PT_GUARDED_BY
#define GUARDED_BY(x) VESTA_THREAD_ATTRIBUTE(guarded_by(x))
#define PT_GUARDED_BY(x) VESTA_THREAD_ATTRIBUTE(pt_guarded_by(x))
#define REQUIRES(...) VESTA_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) VESTA_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define ACQUIRE_SHARED(...) VESTA_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define RELEASE(...) VESTA_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define RELEASE_SHARED(...) VESTA_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define RELEASE_GENERIC(...) VESTA_THREAD_ATTRIBUTE(release_generic_capability(__VA_ARGS__))
#define ASSERT_SHARED_CAPABILITY(...) VESTA_THREAD_ATTRIBUTE(assert_shared_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) VESTA_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define RETURN_CAPABILITY(x) VESTA_THREAD_ATTRIBUTE(lock_returned(x))

namespace vesta {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }
  bool try_lock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

class CAPABILITY("mutex") SharedMutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }
  void lock_shared() ACQUIRE_SHARED() { mutex_.lock_shared(); }
  void unlock_shared() RELEASE_SHARED() { mutex_.unlock_shared(); }
  // Tells the analysis that something else keeps writers out; the caller says what.
  void assume_no_writer() const ASSERT_SHARED_CAPABILITY() {}

 private:
  std::shared_mutex mutex_;
};

// Holds a mutex while it lives; may let go of it for a while.
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  // Of a mutex that try_lock() took.
  MutexLock(Mutex& mutex, std::adopt_lock_t /*held*/) REQUIRES(mutex) : mutex_(mutex) {}
  ~MutexLock() RELEASE() {
    if (is_held_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() ACQUIRE() {
    mutex_.lock();
    is_held_ = true;
  }
  void unlock() RELEASE() {
    is_held_ = false;
    mutex_.unlock();
  }

 private:
  Mutex& mutex_;
  bool is_held_ = true;
};

class SCOPED_CAPABILITY WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~WriterLock() RELEASE() { mutex_.unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mutex_;
};

class SCOPED_CAPABILITY ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) ACQUIRE_SHARED(mutex) : mutex_(mutex) {
    mutex_.lock_shared();
  }
  ~ReaderLock() RELEASE_GENERIC() { mutex_.unlock_shared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

// Waits with a MutexLock, with or without a stop token.
using CondVar = std::condition_variable_any;

}  // namespace vesta
