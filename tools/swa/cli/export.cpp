#include "cli/export.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>

#include "cli/values.hpp"
#include "error.hpp"

namespace swa::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(std::string_view option, const std::string& path, std::string_view why,
                         const std::string& remedy) {
  throw UsageError(fmt::format("{} {}: {}", option, path, why), remedy);
}

// The file itself where a link names it, even one that is not there yet: a rename replaces the
// link, and should make or replace the file.
fs::path target_of(std::string_view option, const std::string& path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::error_code trouble;
  fs::path target = fs::absolute(path, trouble);
  if (trouble) refuse(option, path, "the folder you stand in is gone", "go to one that is there");
  for (int links = 0; links < kMostLinks; ++links) {
    const fs::path canonical = fs::weakly_canonical(target, trouble);
    if (trouble) break;
    target = canonical;
    // What is left of links names nothing.
    const fs::path next = fs::read_symlink(target, trouble);
    if (trouble) break;
    target = target.parent_path() / next;
  }
  return target;
}

std::optional<ExportFile> parse_one(const std::string& path, bool has_figure) {
  const std::string suffix = fs::path(path).extension().string();
  if (suffix == ".txt") return ExportFile{path, report::Format::text};
  if (suffix == ".svg" && has_figure) return ExportFile{path, std::nullopt};
  if (suffix.empty() || suffix == ".text") return std::nullopt;
  const auto format = report::parse_format(suffix.substr(1));
  if (!format) return std::nullopt;
  return ExportFile{path, format};
}

// A stop of the run waits while files take their names, and a file grown past the limit of its size
// is an error of write(), not the end of the process.
class Undisturbed {
 public:
  Undisturbed() {
    sigset_t stops;
    sigemptyset(&stops);
    for (const int stop : {SIGHUP, SIGINT, SIGTERM}) sigaddset(&stops, stop);
    sigprocmask(SIG_BLOCK, &stops, &before_);
    on_limit_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~Undisturbed() {
    std::signal(SIGXFSZ, on_limit_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  sigset_t before_{};
  void (*on_limit_)(int) = nullptr;
};

// A file under a name of its own, removed unless it takes its final one.
class PendingFile {
 public:
  PendingFile(const std::string& path, const std::string& content)
      : path_(path), target_(target_of("--export", path)) {
    create();
    if (!write(content)) {
      const int trouble = errno;
      remove();
      fail(trouble);
    }
  }
  ~PendingFile() { remove(); }
  PendingFile(PendingFile&& other) noexcept
      : path_(other.path_), target_(other.target_), temporary_(std::move(other.temporary_)) {
    other.temporary_.clear();
  }
  PendingFile& operator=(PendingFile&&) = delete;

  void take_name() {
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
    temporary_.clear();
  }

 private:
  void create() {
    // Another run of the same number on another machine may share the folder.
    for (int i = 0; i < 100 && file_ < 0; ++i) {
      temporary_ = target_.parent_path() / fmt::format(".swa-export-{}-{}", getpid(), i);
      file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file_ < 0 && errno != EEXIST) break;
    }
    if (file_ >= 0) return;
    temporary_.clear();
    fail(errno);
  }

  // False, with errno set, where not all of it could be stored.
  bool write(const std::string& content) {
    struct stat older {};
    bool good = stat(target_.c_str(), &older) != 0 || fchmod(file_, older.st_mode & 0777) == 0;
    for (std::size_t done = 0; good && done < content.size();) {
      const ssize_t wrote = ::write(file_, content.data() + done, content.size() - done);
      if (wrote > 0) done += static_cast<std::size_t>(wrote);
      good = wrote > 0 || (wrote < 0 && errno == EINTR);
    }
    good = good && fsync(file_) == 0;
    const int trouble = errno;
    const bool closed = close(file_) == 0;
    if (!good) errno = trouble;
    return good && closed;
  }

  void remove() {
    if (!temporary_.empty()) unlink(temporary_.c_str());
    temporary_.clear();
  }

  [[noreturn]] void fail(int trouble) const {
    throw CannotRun(
        fmt::format("--export {} could not be written: {}", path_, std::strerror(trouble)),
        "the report itself is not lost: it went to standard output");
  }

  std::string path_;
  fs::path target_, temporary_;
  int file_ = -1;
};

}  // namespace

std::string export_kinds(bool has_figure) {
  return has_figure ? ".svg, .csv, .json, .jsonl, .md or .txt" : ".csv, .json, .jsonl, .md or .txt";
}

std::vector<ExportFile> parse_exports(std::string_view option, std::string_view text,
                                      bool has_figure) {
  std::vector<ExportFile> files;
  std::set<fs::path> targets;
  for (const std::string& path : split(option, text)) {
    const std::optional<ExportFile> file = parse_one(path, has_figure);
    if (!file) {
      const bool figure = fs::path(path).extension() == ".svg";
      refuse(option, path,
             figure ? "this command has no figure" : "the suffix names no kind of file",
             fmt::format("the name must end in {}", export_kinds(has_figure)));
    }
    if (!targets.insert(target_of(option, path)).second) {
      refuse(option, path, "the file was named more than once", "give each file once");
    }
    files.push_back(*file);
  }
  return files;
}

void require_writable(std::string_view option, const std::vector<ExportFile>& files) {
  for (const ExportFile& file : files) {
    const fs::path target = target_of(option, file.path), folder = target.parent_path();
    std::error_code trouble;
    const fs::file_status status = fs::status(target, trouble);
    if (!fs::is_directory(folder, trouble)) {
      refuse(option, file.path, "there is no such folder", "make the folder first");
    }
    if (status.type() == fs::file_type::none) {
      refuse(option, file.path, "no such name can be written", "give a shorter or another name");
    }
    if (fs::exists(status) && !fs::is_regular_file(status)) {
      refuse(option, file.path,
             fs::is_directory(status) ? "that is a folder" : "that is not a plain file",
             "give the name of a file");
    }
    const auto may_write = [](const fs::path& path, int mode) {
      return faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
    };
    if (!may_write(folder, W_OK | X_OK)) {
      refuse(option, file.path, "its folder cannot be written to", "choose another folder");
    }
    if (fs::exists(status) && !may_write(target, W_OK)) {
      refuse(option, file.path, "the file is there and cannot be written", "choose another name");
    }
  }
}

void write_exports(const std::vector<ExportFile>& files, const report::Report& report,
                   const std::string& figure) {
  if (files.empty()) return;
  const Undisturbed undisturbed;
  std::vector<PendingFile> pending;
  for (const ExportFile& file : files) {
    if (file.is_figure() && figure.empty()) throw std::logic_error("a figure was not drawn");
    std::ostringstream text;
    if (!file.is_figure()) report::write(report, *file.format, text);
    pending.emplace_back(file.path, file.is_figure() ? figure : text.str());
  }
  for (PendingFile& file : pending) file.take_name();
}

}  // namespace swa::cli
