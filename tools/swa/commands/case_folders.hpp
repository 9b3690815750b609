// Folders with a folder for each case, and a case file that names them.
#pragma once

#include <string>
#include <vector>

#include "problem/cases.hpp"

namespace swa::commands {

// Cases whose names are names of folders, and differ: letters, digits, '.', '_' and '-'. A case
// without a name gets one of its options.
std::vector<Case> name_folders(std::vector<Case> cases);
bool is_folder_name(const std::string& name);

inline constexpr const char* kCaseFile = "cases.toml";

// A folder that is filled from empty, or not at all: unless keep() is called, all that was made in
// it is removed again.
class NewFolder {
 public:
  // Throws UsageError where there is something in the folder, or it can be neither made nor written
  // to; `subject` is what sentences call it, such as "--out cases". Nothing is made yet.
  NewFolder(const std::string& subject, const std::string& path);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::string& path() const { return path_; }
  // Makes a folder inside, or the folder itself. Throws CannotRun where the system refuses.
  void make(const std::string& path);
  // The cases, under a comment, as the last file of the folder.
  void write_cases(const std::string& comment, const std::vector<Case>& cases);
  void keep() { made_.clear(); }
  // Removes what was made since so many folders were: files of the names that swa writes, and the
  // folders unless something else lies in them.
  void remove_from(std::size_t first) noexcept;
  std::size_t made() const { return made_.size(); }

 private:
  std::string subject_, path_;
  std::vector<std::string> made_;
};

}  // namespace swa::commands
