#include "server/http/http_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <thread>
#include <unordered_set>

#include "base/mutex.h"
#include "net/listen_socket.h"
#include "server/http/connection_cap.h"
#include "server/http/http_session.h"

namespace vesta::server {
namespace {

namespace net = boost::asio;
using tcp = net::ip::tcp;
using error_code = boost::system::error_code;
using Acceptor = net::basic_socket_acceptor<tcp, net::io_context::executor_type>;
using Socket = net::basic_stream_socket<tcp, net::io_context::executor_type>;
using Timer = net::basic_waitable_timer<std::chrono::steady_clock,
                                        net::wait_traits<std::chrono::steady_clock>,
                                        net::io_context::executor_type>;

constexpr int kBacklog = 4096;
constexpr uint64_t kMaxRefusing = 1000;
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

// One thread, its event loop, and the connections that live on it.
struct IoThread {
  net::io_context io{1};
  net::executor_work_guard<net::io_context::executor_type> work{io.get_executor()};
  std::unordered_set<HttpSession*> sessions;  // touched on the thread alone
  std::thread thread;
};

struct Listener {
  Listener(net::io_context& io, std::vector<std::string> paths)
      : acceptor(io), pause(io), only_paths(std::move(paths)) {}
  Acceptor acceptor;
  Timer pause;
  const std::vector<std::string> only_paths;
};

std::string address_text(const net::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return net::ip::make_address_v4(net::ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

}  // namespace

struct HttpServer::Parts {
  Parts(const HttpServerOptions& options, const Dispatcher& dispatcher, WorkerPool& worker_pool,
        MemoryBudget& budget, Log& logger)
      : environment{dispatcher, worker_pool, budget, options.limits, options.path_prefix},
        pool(worker_pool),
        log(logger),
        max_connections(std::min(options.limits.max_connections, http_connection_cap())),
        tls_interval(options.tls.check_interval) {
    const size_t count = std::max<size_t>(1, options.io_threads);
    for (size_t i = 0; i < count; ++i) threads.push_back(std::make_unique<IoThread>());
  }

  Status listen(const HttpListener& wanted);
  void accept(Listener& listener);
  void take(Listener& listener, Socket socket);
  void watch_certificate();
  void run();
  void stop(std::chrono::milliseconds grace);

  HttpEnvironment environment;
  WorkerPool& pool;
  Log& log;
  const size_t max_connections;
  const std::chrono::milliseconds tls_interval;
  std::unique_ptr<TlsContext> tls;
  std::atomic<uint64_t> tls_reloads = 0;
  std::atomic<uint64_t> tls_reload_failures = 0;
  std::string tls_problem;  // touched by the one reload that runs at a time
  std::vector<std::unique_ptr<IoThread>> threads;
  std::optional<Timer> tls_timer;
  std::vector<std::unique_ptr<Listener>> listeners;  // on the first thread
  std::vector<ListenAddress> addresses;
  size_t next_thread = 0;  // touched on the first thread
  Mutex ended_lock;
  CondVar ended;  // a connection was closed, or a reload is over
  bool reloading GUARDED_BY(ended_lock) = false;
  bool stopped = false;
};

Status HttpServer::Parts::listen(const HttpListener& wanted) {
  VESTA_ASSIGN(ListenSocket socket, listen_on(wanted.address, kBacklog));
  auto listener = std::make_unique<Listener>(threads[0]->io, wanted.only_paths);
  error_code error;
  const auto address = net::ip::make_address(socket.address.ip, error);
  if (!error) {
    listener->acceptor.assign(address.is_v6() ? tcp::v6() : tcp::v4(), socket.fd.get(), error);
  }
  if (error) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot listen on {}: {}", wanted.address.text(), error.message()),
                 {}};
  }
  socket.fd.release();
  addresses.push_back(std::move(socket.address));
  listeners.push_back(std::move(listener));
  return {};
}

void HttpServer::Parts::accept(Listener& listener) {
  IoThread& target = *threads[next_thread];
  next_thread = (next_thread + 1) % threads.size();
  listener.acceptor.async_accept(
      target.io.get_executor(), [this, &listener](const error_code& error, Socket socket) {
        if (!listener.acceptor.is_open()) return;
        if (!error) {
          take(listener, std::move(socket));
          return accept(listener);
        }
        // Out of files, most likely. Trying again at once would only burn the CPU.
        listener.pause.expires_after(kAcceptPause);
        listener.pause.async_wait([this, &listener](const error_code& cancelled) {
          if (!cancelled && listener.acceptor.is_open()) accept(listener);
        });
      });
}

void HttpServer::Parts::take(Listener& listener, Socket socket) {
  HttpCounters& counters = environment.counters;
  error_code error;
  const auto peer = socket.remote_endpoint(error);
  if (error) return;  // gone already
  const bool refuse = counters.connections >= max_connections;
  if (refuse) {
    ++counters.refused;
    if (counters.refusing >= kMaxRefusing) return;
    ++counters.refusing;
  } else {
    ++counters.accepted;
    ++counters.connections;
  }
  const auto executor = socket.get_executor();
  IoThread& owner =
      **std::ranges::find_if(threads, [&](const auto& t) { return &t->io == &executor.context(); });
  const bool is_ipv6 = socket.local_endpoint(error).protocol() == tcp::v6();
  const int fd = socket.release(error);
  if (error) {
    --(refuse ? counters.refusing : counters.connections);
    return;
  }
  net::post(executor, [this, &owner, &listener, fd, is_ipv6, refuse,
                       address = address_text(peer.address())]() mutable {
    HttpConnection connection{owner.io, fd, is_ipv6, std::move(address), listener.only_paths, {},
                              refuse,   {}, {}};
    if (tls != nullptr) connection.tls = tls->current();
    connection.on_replace = [&owner](HttpSession* old_one, HttpSession* new_one) {
      owner.sessions.erase(old_one);
      owner.sessions.insert(new_one);
    };
    connection.on_end = [this, &owner, refuse](HttpSession* session) {
      if (owner.sessions.erase(session) == 0) return;
      --(refuse ? environment.counters.refusing : environment.counters.connections);
      const MutexLock guard(ended_lock);
      ended.notify_all();
    };
    const auto session = make_http_session(environment, std::move(connection));
    owner.sessions.insert(session.get());
    session->begin();
  });
}

void HttpServer::Parts::watch_certificate() {
  tls_timer->expires_after(tls_interval);
  tls_timer->async_wait([this](const error_code& cancelled) {
    if (cancelled || environment.stopping) return;
    {
      const MutexLock guard(ended_lock);
      reloading = true;
    }
    // Reading files is work for a thread that may block.
    const bool posted = pool.post(Scope::kNone, {}, [this] {
      std::string problem;
      const TlsContext::Change change = tls->reload_if_changed(problem);
      if (change == TlsContext::Change::kReloaded) {
        ++tls_reloads;
        log.info("reloaded the TLS certificate");
      }
      if (change == TlsContext::Change::kFailed) ++tls_reload_failures;
      if (change == TlsContext::Change::kFailed && problem != tls_problem) {
        log.warn("cannot load the changed TLS certificate; keeping the old one",
                 {{"problem", problem}});
      }
      tls_problem = std::move(problem);
      const MutexLock guard(ended_lock);
      reloading = false;
      ended.notify_all();
    });
    if (!posted) {
      const MutexLock guard(ended_lock);
      reloading = false;
    }
    watch_certificate();
  });
}

void HttpServer::Parts::run() {
  for (const auto& listener : listeners) accept(*listener);
  if (tls != nullptr) {
    tls_timer.emplace(threads[0]->io);
    watch_certificate();
  }
  for (const auto& thread : threads) {
    thread->thread = std::thread([io = &thread->io] { io->run(); });
  }
}

void HttpServer::Parts::stop(std::chrono::milliseconds grace) {
  if (stopped) return;
  stopped = true;
  environment.stopping = true;
  const auto each_session = [this](void (HttpSession::*action)()) {
    for (const auto& thread : threads) {
      net::post(thread->io, [owner = thread.get(), action] {
        // A session that closes takes itself out of the set.
        const std::vector<HttpSession*> sessions(owner->sessions.begin(), owner->sessions.end());
        for (HttpSession* session : sessions) {
          if (owner->sessions.contains(session)) (session->*action)();
        }
      });
    }
  };
  net::post(threads[0]->io, [this] {
    error_code ignored;
    for (const auto& listener : listeners) {
      listener->acceptor.close(ignored);
      listener->pause.cancel();
    }
    if (tls_timer) tls_timer->cancel();
  });
  each_session(&HttpSession::wind_up);
  const auto all_gone = [this]() REQUIRES(ended_lock) {
    return environment.counters.connections == 0 && environment.counters.refusing == 0 &&
           !reloading;
  };
  {
    MutexLock guard(ended_lock);
    ended.wait_for(guard, grace, all_gone);
  }
  environment.abandoned = true;
  each_session(&HttpSession::close);
  {
    MutexLock guard(ended_lock);
    ended.wait_for(guard, std::chrono::seconds(1), all_gone);
  }
  for (const auto& thread : threads) {
    thread->work.reset();
    thread->io.stop();
  }
  for (const auto& thread : threads) {
    if (thread->thread.joinable()) thread->thread.join();
  }
}

HttpServer::HttpServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

HttpServer::~HttpServer() {
  parts_->stop(std::chrono::milliseconds(0));
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerOptions& options,
                                                      const Dispatcher& dispatcher,
                                                      WorkerPool& pool, MemoryBudget& budget,
                                                      Log& log) {
  auto parts = std::make_unique<Parts>(options, dispatcher, pool, budget, log);
  if (options.tls.enabled()) {
    VESTA_ASSIGN(parts->tls, TlsContext::open(options.tls));
  }
  for (const HttpListener& listener : options.listeners) VESTA_TRY(parts->listen(listener));
  parts->run();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(parts)));
}

const std::vector<ListenAddress>& HttpServer::addresses() const {
  return parts_->addresses;
}

HttpServerStats HttpServer::stats() const {
  const HttpCounters& counters = parts_->environment.counters;
  HttpServerStats stats;
  stats.connections = counters.connections;
  stats.accepted = counters.accepted;
  stats.refused = counters.refused;
  stats.timeouts = counters.timeouts;
  stats.malformed = counters.malformed;
  stats.handshake_failures = counters.handshake_failures;
  stats.tls_reloads = parts_->tls_reloads;
  stats.tls_reload_failures = parts_->tls_reload_failures;
  return stats;
}

void HttpServer::stop(std::chrono::milliseconds grace) {
  parts_->stop(grace);
}

}  // namespace vesta::server
