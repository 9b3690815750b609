#include "commands/case_folders.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <system_error>

#include "error.hpp"
#include "file.hpp"

namespace swa::commands {
namespace {

namespace fs = std::filesystem;

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x80 &&
         (std::isalnum(byte) != 0 || std::string_view("._-").find(c) != std::string_view::npos);
}

// "two documents, GQA" becomes "two-documents-GQA".
std::string folder_name(const std::string& text) {
  constexpr std::size_t kMost = 80;
  std::string name;
  for (const char c : text) {
    const char plain = is_plain(c) ? c : '-';
    const bool leads = name.empty() && (plain == '-' || plain == '.');
    if (!leads && !(plain == '-' && name.ends_with('-'))) name += plain;
  }
  name.resize(std::min(name.size(), kMost));
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "case" : name;
}

// Whether swa gives files such a name.
bool is_ours(const fs::path& file) {
  static const std::set<std::string> kNames{
      "q.npy",           "k.npy",        "v.npy",
      "sink_logits.npy", "expected.npy", "expected_lse.npy",
      "o.npy",           "lse.npy",      "inputs.safetensors"};
  return kNames.contains(file.filename().string());
}

}  // namespace

std::vector<Case> name_folders(std::vector<Case> cases) {
  std::set<std::string> taken{kCaseFile};
  std::map<std::string, int> next;  // number to try, of names that were taken
  for (Case& c : cases) {
    const std::string name = folder_name(c.name.empty() ? options(c.problem) : c.name);
    c.name = name;
    int& i = next.try_emplace(name, 2).first->second;
    while (!taken.insert(c.name).second) c.name = fmt::format("{}-{}", name, i++);
  }
  return cases;
}

bool is_folder_name(const std::string& name) {
  constexpr std::size_t kMost = 200;
  return !name.empty() && name.size() <= kMost && name != kCaseFile && name.front() != '.' &&
         name.front() != '-' && std::all_of(name.begin(), name.end(), is_plain);
}

NewFolder::NewFolder(const std::string& subject, const std::string& path)
    : subject_(subject), path_(path) {
  std::error_code trouble;
  const auto refuse = [&](const char* why, const char* remedy) {
    throw UsageError(fmt::format("{}: {}", subject, why), remedy);
  };
  const fs::file_status status = fs::status(path, trouble);
  if (status.type() == fs::file_type::none) {
    refuse("no such name can be written", "give a shorter or another name");
  }
  fs::path writable = path;
  if (fs::is_directory(status)) {
    const fs::directory_iterator inside(path, trouble);
    if (trouble) refuse("the folder cannot be read", "choose another folder");
    if (inside != fs::directory_iterator()) {
      refuse("the folder is not empty", "name a new folder, or remove what is in this one");
    }
  } else if (fs::exists(status)) {
    refuse("that is not a folder", "name a new folder");
  } else {
    fs::path folder = path;
    if (!folder.has_filename()) folder = folder.parent_path();  // "cases/"
    writable = fs::absolute(folder, trouble).parent_path();
    if (!fs::is_directory(writable, trouble)) {
      refuse("the folder that it is to lie in is not there", "make that folder first");
    }
  }
  if (faccessat(AT_FDCWD, writable.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    refuse("the folder cannot be written to", "choose another folder");
  }
}

NewFolder::~NewFolder() {
  remove_from(0);
}

void NewFolder::make(const std::string& path) {
  std::error_code trouble;
  const bool made = fs::create_directory(path, trouble);
  if (trouble) {
    throw CannotRun(fmt::format("{}: {} could not be made: {}", subject_, path, trouble.message()),
                    "look whether the disk is full, or choose another folder");
  }
  if (made) made_.push_back(path);
}

void NewFolder::write_cases(const std::string& comment, const std::vector<Case>& cases) {
  std::string text = comment;
  for (const Case& c : cases) text += '\n' + to_toml(c);
  write_file(fmt::format("{}/{}", path_, kCaseFile),
             [&](PendingFile& file) { file.write(std::as_bytes(std::span(text))); });
}

void NewFolder::remove_from(std::size_t first) noexcept {
  std::error_code trouble;
  for (; made_.size() > first; made_.pop_back()) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(made_.back(), trouble)) {
      if (is_ours(entry.path())) files.push_back(entry.path());
    }
    for (const fs::path& file : files) fs::remove(file, trouble);
    fs::remove(made_.back(), trouble);
  }
}

}  // namespace swa::commands
