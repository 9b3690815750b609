#include "cli/questions.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "cli/suggest.hpp"
#include "cli/values.hpp"
#include "error.hpp"

namespace swa::cli {
namespace {

enum class Takes { nothing, format, word, word_or_nothing };

struct Known {
  std::string option;
  Takes takes;
};

const std::vector<Known>& known() {
  static const std::vector<Known> kKnown{
      {"--help", Takes::nothing},    {"-h", Takes::nothing},
      {"--version", Takes::format},  {"--devices", Takes::format},
      {"--completion", Takes::word}, {"--manual", Takes::word_or_nothing},
      {"--words", Takes::word},
  };
  return kKnown;
}

const Known& find(const std::string& name) {
  std::vector<std::string> names{"--format"};
  for (const Known& one : known()) {
    if (one.option == name) return one;
    names.push_back(one.option);
  }
  if (const std::optional<std::string> near = nearest(name, names)) {
    throw UsageError(fmt::format("unknown option '{}'", name),
                     fmt::format("did you mean '{}'?", *near));
  }
  throw UsageError(fmt::format("'{}' stands before the command", name),
                   "the command comes first, such as swa verify --nq 100; swa --help lists them");
}

// Goes through the words from left to right.
class Reader {
 public:
  explicit Reader(std::span<char* const> words) : words_(words) {}

  Question read() {
    while (next_ < words_.size()) read_one();
    if (known_ == nullptr) {
      throw UsageError(fmt::format("'{}' stands before the command", words_.front()),
                       "the command comes first, such as swa kv-budget --format json");
    }
    if (!format_.empty()) {
      if (known_->takes != Takes::format) {
        throw UsageError(fmt::format("{} takes no --format", question_.option),
                         "leave --format out");
      }
      question_.format =
          *report::parse_format(parse_choice("--format", format_, report::format_words()));
    }
    return question_;
  }

 private:
  void read_one() {
    const std::string word = words_[next_++];
    const std::size_t equals = word.starts_with('-') ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    if (!word.starts_with('-')) {
      if (known_ == nullptr) {
        next_ = words_.size();  // read() says what stands before a command
        return;
      }
      throw UsageError(fmt::format("unexpected word '{}'", word),
                       "swa --help lists what can be asked");
    }
    if (name == "--format") {
      read_format(value);
      return;
    }
    const Known& found = find(name);
    if (known_ != nullptr) {
      throw UsageError(known_ == &found
                           ? fmt::format("{} was given more than once", name)
                           : fmt::format("{} and {} are two questions", question_.option, name),
                       "ask one at a time");
    }
    known_ = &found;
    question_.option = name;
    question_.value = value_of(found, value);
  }

  void read_format(const std::optional<std::string>& value) {
    if (!format_.empty()) {
      throw UsageError("--format was given more than once", "give it once");
    }
    format_ = value ? *value : next_word();
    if (format_.empty()) throw UsageError("--format has no value", "write its value after it");
  }

  std::string value_of(const Known& known, const std::optional<std::string>& value) {
    const bool takes = known.takes == Takes::word || known.takes == Takes::word_or_nothing;
    if (!takes) {
      if (!value) return {};
      throw UsageError(fmt::format("{} takes no value", known.option),
                       fmt::format("write {} alone", known.option));
    }
    const std::string word = value ? *value : next_word();
    if (word.empty() && (value || known.takes == Takes::word)) {
      throw UsageError(fmt::format("{} has no value", known.option), "write its value after it");
    }
    return word;
  }

  // The next word, taken, if it is no option; else nothing.
  std::string next_word() {
    if (next_ == words_.size() || *words_[next_] == '-') return {};
    return words_[next_++];
  }

  std::span<char* const> words_;
  std::size_t next_ = 0;
  const Known* known_ = nullptr;
  Question question_;
  std::string format_;
};

}  // namespace

Question read_question(std::span<char* const> words) {
  return Reader(words).read();
}

}  // namespace swa::cli
