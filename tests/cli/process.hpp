// Runs a program without a shell, and the words for it that the command tests share.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace swa::test {

// The time that a refusal may take. Sanitizers slow a process down, most of all at its start.
#ifdef SWA_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
inline constexpr double kSecond = kSanitized ? 10.0 : 1.0;

using Words = std::vector<std::string>;

// Where a stream of the program goes.
enum class Sink {
  captured,
  full,    // /dev/full: every write fails
  closed,  // no such descriptor
};

struct Setup {
  std::map<std::string, std::string> environment =
      {};  // added to ours; SWA_DATA_DIR is not inherited
  Sink out = Sink::captured, err = Sink::captured;
  double timeout = kSanitized ? 300 : 60;  // seconds, then the program is killed
  std::vector<double> signal_after = {};   // seconds from the start, increasing
  int signal = 2;                          // SIGINT
  std::string folder = {};                 // in which it runs; empty: that of the tests
};

struct Finished {
  std::string out, err;
  int status = -1;  // -1 where a signal ended it
  int signal = 0;
  bool timed_out = false;
  double seconds = 0;
  double peak_mib = 0;  // resident
};

// Throws std::runtime_error where the program cannot be started.
Finished run(const std::string& program, const Words& arguments, const Setup& setup = {});

// The path of a tool of this machine. Where it is not installed, says so in the words by which
// CTest counts a test as skipped, and returns "".
std::string tool_or_skip(const std::string& name);

// A command line cut at blanks; '' is an empty argument, and a leading "swa" is dropped.
Words words(const std::string& line);

// Runs the swa that was built.
Finished run_swa(const Words& arguments, const Setup& setup = {});
inline Finished run_swa(const std::string& line, const Setup& setup = {}) {
  return run_swa(words(line), setup);
}

// What swa prints, checked to succeed and to say nothing on stderr.
std::string output(const std::string& line, const Setup& setup = {});

std::vector<std::string> lines(const std::string& text);
inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A copy of the project's data folder that goes away again.
class DataCopy {
 public:
  DataCopy();
  ~DataCopy();
  DataCopy(const DataCopy&) = delete;
  DataCopy& operator=(const DataCopy&) = delete;

  // The folder as the program should see it.
  Setup setup() const { return {{{"SWA_DATA_DIR", folder_.string()}}}; }
  const std::filesystem::path& folder() const { return folder_; }

  void write(const std::string& name, const std::string& text) const;
  // `before` must stand in the file exactly once.
  void replace(const std::string& name, const std::string& before, const std::string& after) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace swa::test
