#include "file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "error.hpp"

namespace swa {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& subject, std::string_view why,
                         const std::string& remedy) {
  throw UsageError(fmt::format("{}: {}", subject, why), remedy);
}

}  // namespace

fs::path target_of(const std::string& subject, const std::string& path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::error_code trouble;
  fs::path target = fs::absolute(path, trouble);
  if (trouble) refuse(subject, "the folder you stand in is gone", "go to one that is there");
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

void require_writable(const std::string& subject, const std::string& path) {
  const fs::path target = target_of(subject, path), folder = target.parent_path();
  std::error_code trouble;
  const fs::file_status status = fs::status(target, trouble);
  if (!fs::is_directory(folder, trouble)) {
    refuse(subject, "there is no such folder", "make the folder first");
  }
  if (status.type() == fs::file_type::none) {
    refuse(subject, "no such name can be written", "give a shorter or another name");
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    refuse(subject, fs::is_directory(status) ? "that is a folder" : "that is not a plain file",
           "give the name of a file");
  }
  const auto may_write = [](const fs::path& name, int mode) {
    return faccessat(AT_FDCWD, name.c_str(), mode, AT_EACCESS) == 0;
  };
  if (!may_write(folder, W_OK | X_OK)) {
    refuse(subject, "its folder cannot be written to", "choose another folder");
  }
  if (fs::exists(status) && !may_write(target, W_OK)) {
    refuse(subject, "the file is there and cannot be written", "choose another name");
  }
}

Undisturbed::Undisturbed() {
  sigset_t stops;
  sigemptyset(&stops);
  for (const int stop : {SIGHUP, SIGINT, SIGTERM}) sigaddset(&stops, stop);
  sigprocmask(SIG_BLOCK, &stops, &before_);
  on_limit_ = std::signal(SIGXFSZ, SIG_IGN);
}

Undisturbed::~Undisturbed() {
  std::signal(SIGXFSZ, on_limit_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

PendingFile::PendingFile(const std::string& subject, const std::string& path,
                         const std::string& remedy)
    : subject_(subject), remedy_(remedy), target_(target_of(subject, path)) {
  create();
}

PendingFile::~PendingFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : subject_(std::move(other.subject_)),
      remedy_(std::move(other.remedy_)),
      target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {
  other.temporary_.clear();
}

void PendingFile::create() {
  // Another run of the same number on another machine may share the folder.
  for (int i = 0; i < 100 && descriptor_ < 0; ++i) {
    temporary_ = target_.parent_path() / fmt::format(".swa-{}-{}", getpid(), i);
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) fail(errno);
  struct stat older {};
  if (stat(target_.c_str(), &older) == 0 && fchmod(descriptor_, older.st_mode & 0777) != 0) {
    const int trouble = errno;
    close(descriptor_);  // no destructor runs for what was not constructed
    unlink(temporary_.c_str());
    fail(trouble);
  }
}

void PendingFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(descriptor_, bytes.data(), bytes.size());
    if (wrote > 0) bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    if (wrote == 0 || (wrote < 0 && errno != EINTR)) fail(wrote == 0 ? EIO : errno);
  }
}

void PendingFile::finish() {
  if (fsync(descriptor_) != 0) fail(errno);
  if (close(std::exchange(descriptor_, -1)) != 0) fail(errno);
}

void PendingFile::take_name() {
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void PendingFile::fail(int trouble) const {
  throw CannotRun(fmt::format("{} could not be written: {}", subject_, std::strerror(trouble)),
                  remedy_);
}

void write_file(const std::string& path, const std::function<void(PendingFile&)>& fill) {
  require_writable(path, path);
  const Undisturbed undisturbed;
  PendingFile file(path, path, "look whether the disk is full, or choose another folder");
  fill(file);
  file.finish();
  file.take_name();
}

}  // namespace swa
