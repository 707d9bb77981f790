// The agent beside a server, as the server's pages show it. Any thread may ask; whoever runs both
// says from when until when there is one.
#pragma once

#include <optional>

#include "agent/app/agent_app.h"
#include "base/mutex.h"
#include "server/native/local_agent.h"

namespace vesta::cli {

// As the API has it.
server::LocalAgent describe_agent(const agent::AgentStatus& status);

class RunningAgent {
 public:
  std::optional<server::LocalAgent> describe() const;

  // As long as this lives, the agent is asked; it must live longer, and not be stopped before.
  class Shown {
   public:
    Shown(RunningAgent& running, const agent::AgentApp& agent) : running_(running) {
      running_.set(&agent);
    }
    // Waits for who is asking.
    ~Shown() { running_.set(nullptr); }
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;

   private:
    RunningAgent& running_;
  };

 private:
  void set(const agent::AgentApp* agent);

  mutable Mutex mutex_;
  const agent::AgentApp* agent_ GUARDED_BY(mutex_) = nullptr;
};

}  // namespace vesta::cli
