// A folder of its own for the files that a test writes, removed when the test ends.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace swa::test {

class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "swa-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder");
    folder_ = name;
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& folder() const { return folder_; }
  // Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  // A sentence without the folder in front of the file's name.
  std::string without_folder(std::string sentence) const {
    const std::size_t at = sentence.find(folder_ + "/");
    if (at != std::string::npos) sentence.erase(at, folder_.size() + 1);
    return sentence;
  }

 private:
  std::string folder_;
};

}  // namespace swa::test
