// The process that a plug-in runs in, seen from swa. Private to this room.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "verify/plugin.hpp"
#include "verify/plugin_memory.hpp"
#include "verify/plugin_wire.hpp"

namespace swa {

// One line: control characters become question marks.
std::string one_line(std::string text);

class PluginProcess {
 public:
  // Starts it, and loads the library. Throws PluginError where that fails, CannotRun where
  // no process can be started, and Stopped. `shared` outlives it.
  PluginProcess(const std::string& library, const PluginOptions& options, SharedMemory& shared);
  ~PluginProcess();  // ends it, and all that it started
  PluginProcess(const PluginProcess&) = delete;
  PluginProcess& operator=(const PluginProcess&) = delete;

  // Throws PluginError where the plug-in does not return as it should, and Stopped; the
  // process is of no further use then. Texts of the reply end with 0.
  Reply call(const Request& request);

 private:
  void start(const std::string& library);
  void end();
  Reply wait(const std::string& doing);
  bool receive(Reply& reply) const;  // false where there is none yet
  std::optional<std::string> how_it_ended(const std::string& doing) const;
  double own_memory() const;  // bytes, shared ones left out
  FirstPage& first_page() const;

  PluginOptions options_;
  SharedMemory& shared_;
  pid_t process_ = -1;
  Descriptor control_;
};

}  // namespace swa
