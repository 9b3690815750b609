#include "verify/plugin_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "error.hpp"
#include "parallel.hpp"

extern char** environ;

namespace swa {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kTickMs = 20;  // how often a call that takes long is looked after

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string signal_text(int number) {
  const char* name = sigabbrev_np(number);
  const std::string text =
      name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
  if (number == SIGABRT) {
    return text + " (abort(), a failed assertion, or an exception that nothing caught)";
  }
  const char* meaning = sigdescr_np(number);
  return meaning == nullptr ? text : fmt::format("{} ({})", text, meaning);
}

// What the new process starts with: stdin is empty, stdout is our stderr, the two descriptors are
// inherited, signals do what they usually do, and it leads a process group of its own, which can be
// ended as a whole and hears no Ctrl-C.
class SpawnSetup {
 public:
  SpawnSetup(int control, int shared) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (fcntl(STDERR_FILENO, F_GETFD) < 0) {
      posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    for (const int number : {control, shared}) {
      posix_spawn_file_actions_adddup2(&actions_, number, number);  // clears close-on-exec
    }
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGCHLD}) {
      sigaddset(&usual, number);
    }
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &usual);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// What the plug-in said, as one line of text; the report's writers see to its bytes.
std::string text_of(const std::array<char, 1024>& text) {
  return one_line(text.data());
}

}  // namespace

std::string one_line(std::string text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(text.begin(), text.end(), is_control, '?');
  return text;
}

PluginProcess::PluginProcess(const std::string& library, const PluginOptions& options,
                             SharedMemory& shared)
    : options_(options), shared_(shared) {
  first_page().inside = 1;  // until the process says otherwise: loading runs code of the plug-in
  start(library);
  try {
    const Reply loaded = wait("while it was loaded");
    if (loaded.outcome != Outcome::loaded) {
      throw PluginError(fmt::format("the plug-in cannot be loaded: {}", text_of(loaded.text)));
    }
  } catch (...) {
    end();
    throw;
  }
}

PluginProcess::~PluginProcess() {
  end();
}

Reply PluginProcess::call(const Request& request) {
  const std::string doing =
      request.attention.task == SWA_DESCRIBE ? "in SWA_DESCRIBE" : "in SWA_FORWARD";
  // Where it fails, the process is gone, and wait() says how.
  send(control_.number(), &request, sizeof request, MSG_NOSIGNAL);
  Reply reply = wait(doing);
  if (reply.outcome == Outcome::threw) {
    const std::string what = text_of(reply.text);
    throw PluginError(fmt::format("the plug-in threw an exception {}{}{}", doing,
                                  what.empty() ? "" : ": ", what));
  }
  if (reply.outcome == Outcome::left_child) {
    throw PluginError(
        fmt::format("the plug-in started a process {} and did not wait for its end", doing));
  }
  return reply;
}

void PluginProcess::start(const std::string& library) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw CannotRun("no process can be started for a plug-in", "close some files");
  }
  const Descriptor theirs(ends[1]);
  control_.reset(ends[0]);
  const SpawnSetup setup(theirs.number(), shared_.descriptor());
  std::array<std::string, 6> words{"swa",
                                   kPluginHost,
                                   fmt::format("{}", theirs.number()),
                                   fmt::format("{}", shared_.descriptor()),
                                   fmt::format("{}", getpid()),
                                   library};
  std::array<char*, words.size() + 1> argv{};
  for (std::size_t i = 0; i < words.size(); ++i) argv[i] = words[i].data();
  const int trouble = posix_spawn(&process_, options_.host.c_str(), setup.actions(),
                                  setup.attributes(), argv.data(), environ);
  if (trouble == 0) return;
  process_ = -1;
  throw CannotRun(fmt::format("no process can be started for a plug-in: {}", strerror(trouble)));
}

void PluginProcess::end() {
  if (process_ < 0) return;
  kill(-process_, SIGKILL);
  kill(process_, SIGKILL);  // if it left its group
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

Reply PluginProcess::wait(const std::string& doing) {
  const auto begin = Clock::now();
  for (Reply reply;;) {
    pollfd polled{control_.number(), POLLIN, 0};
    poll(&polled, 1, kTickMs);
    // Looked at before the reply: a reply that came before the end is still there after it.
    const std::optional<std::string> ending = how_it_ended(doing);
    if (receive(reply)) return reply;
    if (ending) throw PluginError(*ending);
    if (stop_requested()) throw Stopped();
    if (options_.memory > 0 && own_memory() > options_.memory) {
      throw PluginError(fmt::format("the plug-in took more than {:.1f} GiB of memory {}",
                                    options_.memory / 0x1p30, doing));
    }
    if (seconds_since(begin) > options_.timeout) {
      throw PluginError(fmt::format("the plug-in hung {}: it did not return within {} {}", doing,
                                    options_.timeout,
                                    options_.timeout == 1 ? "second" : "seconds"));
    }
    // The process hung up, and may not have ended yet: poll() would return at once.
    if ((polled.revents & POLLHUP) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool PluginProcess::receive(Reply& reply) const {
  const ssize_t got = recv(control_.number(), &reply, sizeof reply, MSG_DONTWAIT);
  if (got <= 0) return false;
  if (got != sizeof reply) {
    throw PluginError("the plug-in wrote to a descriptor that is not its own");
  }
  reply.text.back() = 0;
  reply.attention.message[SWA_MESSAGE_BYTES - 1] = 0;
  return true;
}

std::optional<std::string> PluginProcess::how_it_ended(const std::string& doing) const {
  siginfo_t info{};
  // Not reaped yet: its number, which is its group's too, stays taken until end().
  const int trouble =
      waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (trouble == 0 && info.si_pid == 0) return std::nullopt;
  if (trouble != 0) return fmt::format("the plug-in's process was lost {}", doing);
  if (info.si_code == CLD_EXITED) {
    if (first_page().inside == 0) {
      return fmt::format("the plug-in closed descriptors that are not its own {}", doing);
    }
    return fmt::format("the plug-in ended its process by exit({}) {}", info.si_status, doing);
  }
  return fmt::format("the plug-in was ended by {} {}", signal_text(info.si_status), doing);
}

FirstPage& PluginProcess::first_page() const {
  return *reinterpret_cast<FirstPage*>(shared_.data());
}

double PluginProcess::own_memory() const {
  std::ifstream file(fmt::format("/proc/{}/statm", process_));
  double size = 0, resident = 0, shared = 0;
  if (!(file >> size >> resident >> shared)) return 0;
  return (resident - shared) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace swa
