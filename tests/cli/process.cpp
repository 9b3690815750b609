#include "process.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace swa::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    close_write();
    if (read >= 0) close(read);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_write() {
    if (write >= 0) close(write);
    write = -1;
  }
};

struct Actions {
  posix_spawn_file_actions_t value{};
  Actions() { posix_spawn_file_actions_init(&value); }
  ~Actions() { posix_spawn_file_actions_destroy(&value); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;

  void direct(int stream, Sink sink, const Pipe& pipe) {
    if (sink == Sink::captured) posix_spawn_file_actions_adddup2(&value, pipe.write, stream);
    if (sink == Sink::closed) posix_spawn_file_actions_addclose(&value, stream);
    if (sink == Sink::full) {
      posix_spawn_file_actions_addopen(&value, stream, "/dev/full", O_WRONLY, 0);
    }
  }
};

// The program meets signals as one that is started from a terminal, however the tests were started.
struct Attributes {
  posix_spawnattr_t value{};
  Attributes() {
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGTERM);
    posix_spawnattr_init(&value);
    posix_spawnattr_setsigdefault(&value, &usual);
    posix_spawnattr_setflags(&value, POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { posix_spawnattr_destroy(&value); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
};

std::vector<char*> pointers(Words& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

Words environment_of(const Setup& setup) {
  Words result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    if (name != "SWA_DATA_DIR" && !setup.environment.contains(name)) result.push_back(text);
  }
  for (const auto& [name, value] : setup.environment) result.push_back(name + '=' + value);
  return result;
}

// Reads both pipes until they close. Returns false where time ran out.
bool drain(std::array<int, 2> ends, const std::array<std::string*, 2>& texts,
           Clock::time_point deadline) {
  std::array<pollfd, 2> polled{{{ends[0], POLLIN, 0}, {ends[1], POLLIN, 0}}};
  std::array<char, 1 << 16> buffer{};
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    if (poll(polled.data(), polled.size(), static_cast<int>(left.count())) < 0 && errno != EINTR) {
      return false;
    }
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) continue;
      const ssize_t got = read(polled[i].fd, buffer.data(), buffer.size());
      if (got > 0) texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
      if (got == 0) polled[i].fd = -1;
    }
  }
  return true;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error(path.string() + " cannot be read");
  return text.str();
}

}  // namespace

Finished run(const std::string& program, const Words& arguments, const Setup& setup) {
  Pipe out, err;
  Actions actions;
  if (!setup.folder.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions.value, setup.folder.c_str());
  }
  posix_spawn_file_actions_addopen(&actions.value, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  actions.direct(STDOUT_FILENO, setup.out, out);
  actions.direct(STDERR_FILENO, setup.err, err);

  Words argv = arguments, environment = environment_of(setup);
  argv.insert(argv.begin(), program);
  const auto begin = Clock::now();
  pid_t child = 0;
  Attributes attributes;
  const int trouble = posix_spawn(&child, program.c_str(), &actions.value, &attributes.value,
                                  pointers(argv).data(), pointers(environment).data());
  if (trouble != 0) throw std::runtime_error(program + ": " + std::strerror(trouble));
  out.close_write();
  err.close_write();

  Finished result;
  const auto at = [&](double seconds) {
    return begin +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  const auto ended_by = [&](double seconds) {
    return drain({out.read, err.read}, {&result.out, &result.err}, at(seconds));
  };
  for (const double seconds : setup.signal_after) {
    if (ended_by(seconds)) break;
    kill(child, setup.signal);
  }
  // A program that closed both streams and lingers is waited for; CTest has a limit of its own.
  result.timed_out = !ended_by(setup.timeout);
  if (result.timed_out) kill(child, SIGKILL);
  int status = 0;
  rusage used{};
  while (wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  result.peak_mib = static_cast<double>(used.ru_maxrss) / 1024;
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

std::string tool_or_skip(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + '/' + name;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  std::printf("swa test skipped: %s is not installed\n", name.c_str());
  return {};
}

Words words(const std::string& line) {
  Words result;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) result.push_back(word == "''" ? "" : word);
  if (!result.empty() && result.front() == "swa") result.erase(result.begin());
  return result;
}

Finished run_swa(const Words& arguments, const Setup& setup) {
  return run(SWA_BINARY, arguments, setup);
}

std::string output(const std::string& line, const Setup& setup) {
  INFO("swa ", line);
  const Finished run = run_swa(line, setup);
  INFO("stderr: ", run.err);
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  return run.out;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

DataCopy::DataCopy() {
  std::string name = (fs::temp_directory_path() / "swa-data-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = name;
  fs::copy(fs::path(SWA_SOURCE_DIR) / "data", folder_, fs::copy_options::recursive);
}

DataCopy::~DataCopy() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void DataCopy::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / name, std::ios::binary) << text;
}

void DataCopy::replace(const std::string& name, const std::string& before,
                       const std::string& after) const {
  std::string text = read_file(folder_ / name);
  const std::size_t at = text.find(before);
  if (at == std::string::npos || text.find(before, at + 1) != std::string::npos) {
    throw std::runtime_error("'" + before + "' does not stand in " + name + " once");
  }
  write(name, text.replace(at, before.size(), after));
}

}  // namespace swa::test
