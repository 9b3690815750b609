// Files that are written whole or not at all.
#pragma once

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace swa {

// The file itself where a link names it, even one that is not there yet: a rename replaces the
// link, and should make or replace the file. Throws UsageError where a relative path has no folder
// to start from; `subject` is what sentences call the file, such as "--export a.csv".
std::filesystem::path target_of(const std::string& subject, const std::string& path);

// Throws UsageError where the file cannot be written: no such folder, or one that lets nobody write
// here, or something that is no plain file of ours.
void require_writable(const std::string& subject, const std::string& path);

// While it lives, a stop of the run waits until the files have their names, and a file grown past
// the limit of its size is an error of write(), not the end of the process.
class Undisturbed {
 public:
  Undisturbed();
  ~Undisturbed();
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  sigset_t before_{};
  void (*on_limit_)(int) = nullptr;
};

// A file under a name of its own in the folder of its final one, removed unless it takes that one.
// Who may read an older file of that name may read the new one. All members throw CannotRun, with
// the remedy given, where the system refuses.
class PendingFile {
 public:
  PendingFile(const std::string& subject, const std::string& path, const std::string& remedy);
  ~PendingFile();
  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&&) = delete;

  void write(std::span<const std::byte> bytes);
  // Nothing is written after it; what was written is on the disk.
  void finish();
  // Replaces what had the name before, at once.
  void take_name();

 private:
  void create();
  [[noreturn]] void fail(int trouble) const;

  std::string subject_, remedy_;
  std::filesystem::path target_, temporary_;
  int descriptor_ = -1;
};

// Writes one file with what `fill` writes to it. Throws UsageError as require_writable() does and
// CannotRun as PendingFile does; then, and where `fill` throws, an older file stays as it was.
void write_file(const std::string& path, const std::function<void(PendingFile&)>& fill);

}  // namespace swa
