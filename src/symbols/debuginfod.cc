#include "symbols/debuginfod.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace vesta {
namespace {

struct Progress {
  std::chrono::steady_clock::time_point deadline;
  long max_bytes = 0;
  bool late = false;
  bool large = false;
};

}  // namespace

// What we call of libdebuginfod.so.1. Loaded, not linked: most hosts have no server to ask, and the
// library brings a good part of the network stack with it.
struct Debuginfod::Library {
  void* handle = nullptr;
  decltype(&::debuginfod_begin) begin = nullptr;
  decltype(&::debuginfod_find_debuginfo) find = nullptr;
  decltype(&::debuginfod_set_progressfn) set_progress = nullptr;
  decltype(&::debuginfod_set_user_data) set_user_data = nullptr;
  decltype(&::debuginfod_get_user_data) get_user_data = nullptr;
  decltype(&::debuginfod_end) end = nullptr;
  debuginfod_client* client = nullptr;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  // The library stays loaded: libcurl underneath does not like to be unloaded.
  ~Library() {
    if (client != nullptr) end(client);
  }

  template <class F>
  bool resolve(const char* name, F& function) {
    function = reinterpret_cast<F>(::dlsym(handle, name));
    return function != nullptr;
  }

  static Result<std::unique_ptr<Library>> load() {
    auto library = std::make_unique<Library>();
    library->handle = ::dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library->handle == nullptr) {
      return Error{ErrorCode::kUnsupported, "libdebuginfod is not installed",
                   "install the package libdebuginfod1"};
    }
    if (!library->resolve("debuginfod_begin", library->begin) ||
        !library->resolve("debuginfod_find_debuginfo", library->find) ||
        !library->resolve("debuginfod_set_progressfn", library->set_progress) ||
        !library->resolve("debuginfod_set_user_data", library->set_user_data) ||
        !library->resolve("debuginfod_get_user_data", library->get_user_data) ||
        !library->resolve("debuginfod_end", library->end)) {
      return Error{ErrorCode::kUnsupported, "libdebuginfod lacks a required function",
                   "install version 0.180 or newer"};
    }
    return library;
  }
};

Debuginfod::Debuginfod(Options options, std::unique_ptr<Library> library)
    : options_(std::move(options)), library_(std::move(library)) {}

Debuginfod::~Debuginfod() = default;

Result<std::unique_ptr<Debuginfod>> Debuginfod::open(Options options) {
  // NOLINTBEGIN(concurrency-mt-unsafe): see Options::urls.
  if (!options.urls.empty()) ::setenv("DEBUGINFOD_URLS", options.urls.c_str(), 1);
  const char* urls = std::getenv("DEBUGINFOD_URLS");
  // NOLINTEND(concurrency-mt-unsafe)
  if (urls == nullptr || *urls == '\0') {
    return Error{ErrorCode::kNotFound, "no debuginfod server is configured", "set DEBUGINFOD_URLS"};
  }
  VESTA_ASSIGN(auto library, Library::load());
  library->client = library->begin();
  if (library->client == nullptr) {
    return Error{ErrorCode::kUnsupported, "cannot start libdebuginfod", {}};
  }
  return std::unique_ptr<Debuginfod>(new Debuginfod(std::move(options), std::move(library)));
}

Result<std::shared_ptr<const ElfFile>> Debuginfod::find(const BuildId& id) {
  if (id.empty()) return Error{ErrorCode::kNotFound, "no build id", {}};
  const auto now = std::chrono::steady_clock::now();
  if (const auto known = missing_.find(id.bytes); known != missing_.end()) {
    if (now - known->second < options_.forget_missing_after) {
      return Error{ErrorCode::kNotFound, fmt::format("debuginfod has no {}", id.hex()), {}};
    }
    missing_.erase(known);
  }
  auto found = ask(id);
  if (!found) {
    if (missing_.size() >= options_.max_remembered) missing_.clear();
    missing_.emplace(id.bytes, now);
  } else {
    ++statistics_.found;
  }
  return found;
}

Result<std::shared_ptr<const ElfFile>> Debuginfod::ask(const BuildId& id) {
  ++statistics_.asked;
  Progress progress;
  progress.deadline = std::chrono::steady_clock::now() + options_.timeout;
  progress.max_bytes = static_cast<long>(options_.max_bytes);
  // The call-back gets no pointer of its own in the older versions that we support, and the
  // function that reads one back must be found through the library.
  static thread_local decltype(&::debuginfod_get_user_data) get_user_data = nullptr;
  get_user_data = library_->get_user_data;
  library_->set_user_data(library_->client, &progress);
  library_->set_progress(library_->client, [](debuginfod_client* client, long done, long total) {
    auto* state = static_cast<Progress*>(get_user_data(client));
    state->late = state->late || std::chrono::steady_clock::now() > state->deadline;
    state->large = state->large || done > state->max_bytes || total > state->max_bytes;
    return state->late || state->large ? 1 : 0;
  });
  const UniqueFd fd(library_->find(library_->client,
                                   reinterpret_cast<const unsigned char*>(id.bytes.data()),
                                   static_cast<int>(id.bytes.size()), nullptr));
  library_->set_user_data(library_->client, nullptr);
  library_->set_progress(library_->client, nullptr);
  if (!fd.valid()) {
    if (progress.large) {
      return Error{
          ErrorCode::kLimit,
          fmt::format("the debug file of {} is larger than {} bytes", id.hex(), options_.max_bytes),
          {}};
    }
    if (progress.late) {
      return Error{ErrorCode::kIo,
                   fmt::format("debuginfod did not answer within {} ms", options_.timeout.count()),
                   {}};
    }
    const int failure = -fd.get();
    return Error{
        failure == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
        fmt::format("debuginfod has no debug file of {}: {}", id.hex(), std::strerror(failure)),
        {}};
  }
  VESTA_ASSIGN(InputFile bytes, InputFile::from_fd(fd.get(), options_.max_bytes));
  VESTA_ASSIGN(auto file, ElfFile::parse(std::move(bytes)));
  // A server, or a cache that others write to, may hand out something else.
  if (file->build_id() != id) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("debuginfod returned a file other than {}", id.hex()),
                 {}};
  }
  return file;
}

}  // namespace vesta
