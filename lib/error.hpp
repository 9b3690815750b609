// Errors that a user can act on. Everything else that is thrown is a defect of ours.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace swa {

// One sentence, and one line that says what to do about it (may be empty).
class Error : public std::runtime_error {
 public:
  Error(const std::string& sentence, std::string remedy)
      : std::runtime_error(sentence), remedy_(std::move(remedy)) {}
  const std::string& remedy() const { return remedy_; }

 private:
  std::string remedy_;
};

// The question was asked wrongly: a bad option, value, or file.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& sentence, std::string remedy = {})
      : Error(sentence, std::move(remedy)) {}
};

// A fair question that this machine or this build cannot answer.
class CannotRun : public Error {
 public:
  explicit CannotRun(const std::string& sentence, std::string remedy = {})
      : Error(sentence, std::move(remedy)) {}
};

}  // namespace swa
