#include "report/read_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "error.hpp"

namespace swa::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Event = Json::parse_event_t;

constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
constexpr int kMaxDepth = 64;  // values within one another
// Commands write a few dozen keys, and the parser looks through all of an object for each.
constexpr std::size_t kMaxKeys = 1000;
constexpr std::string_view kBlanks = " \t\r\n";
// What is read takes far more memory than its text.
constexpr std::size_t kMaxRecords = 1'000'000;
constexpr std::size_t kMaxValues = 1'000'000;  // of one record

[[noreturn]] void refuse(const std::string& subject, std::string_view why) {
  throw UsageError(fmt::format("{} {}", subject, why),
                   "give a file that --export or --format wrote as json or jsonl");
}

// No more than kMaxBytes, whatever grows meanwhile.
std::string content_of(const std::string& path) {
  std::error_code trouble;
  const fs::file_status status = fs::status(path, trouble);
  if (!fs::exists(status)) refuse(path, "cannot be found");
  if (!fs::is_regular_file(status)) refuse(path, "is not a regular file");
  std::ifstream file(path, std::ios::binary);
  std::string text;
  const auto block = std::make_unique_for_overwrite<char[]>(std::size_t{1} << 20);
  while (file && text.size() <= kMaxBytes) {
    file.read(block.get(), std::streamsize{1} << 20);
    text.append(block.get(), static_cast<std::size_t>(file.gcount()));
  }
  if (text.size() > kMaxBytes) refuse(path, "has more than 256 MiB");
  if (!file.eof()) refuse(path, "cannot be read");
  return text;
}

// A key of a file that may hold anything, for a sentence.
std::string quoted(std::string key) {
  constexpr std::size_t kMost = 40;
  if (key.size() > kMost) key.resize(kMost);
  const auto plain = [](unsigned char c) { return c >= 0x20 && c < 0x7f; };
  std::replace_if(
      key.begin(), key.end(), [&](char c) { return !plain(c); }, '?');
  return fmt::format("'{}'", key);
}

bool fits_int64(const Json& json) {
  return json.is_number_integer() &&
         (!json.is_number_unsigned() ||
          json.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max());
}

Value value_of(const Json& json) {
  const auto all = [&](auto is_one) { return std::all_of(json.begin(), json.end(), is_one); };
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_float()) return json.get<double>();
  if (fits_int64(json)) return json.get<std::int64_t>();
  if (json.is_array() && all(fits_int64)) return json.get<Numbers>();
  if (json.is_array() && all([](const Json& item) { return item.is_string(); })) {
    return json.get<Words>();
  }
  return json.dump();
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  // An object with "records". Each record is taken out of the document where it ends, so that
  // nothing is held twice.
  void read_report(std::string_view text) {
    const Json root = parse(text, path_, [this](int depth, Event event, Json& parsed) {
      return take(depth, event, parsed);
    });
    if (has_list_) return;
    // Or a jsonl of one line.
    const bool is_line = text.find('\n') == std::string_view::npos;
    if (!is_line || !root.is_object() || !root.contains("schema") || root.contains("records")) {
      refuse(path_, "has no list of records");
    }
    add(root);
  }

  // A record a line.
  void read_lines(std::string_view text) {
    for (std::size_t begin = 0, line = 1; begin < text.size(); ++line) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view one = text.substr(begin, end - begin);
      begin = end + 1;
      if (one.find_first_not_of(kBlanks) == std::string_view::npos) continue;
      const std::string where = fmt::format("{}, line {},", path_, line);
      const Json root = parse(one, where, [](int, Event, const Json&) { return true; });
      if (!root.is_object()) refuse(where, "is not a record, which is an object");
      add(root);
    }
  }

  std::vector<ReadRecord> records() && {
    if (records_.empty()) refuse(path_, "holds no records");
    return std::move(records_);
  }

 private:
  template <class Then>
  Json parse(std::string_view text, const std::string& subject, Then then) {
    keys_.clear();
    try {
      return Json::parse(text, [&](int depth, Event event, Json& parsed) {
        watch(depth, event, parsed, subject);
        return then(depth, event, parsed);
      });
    } catch (const Json::parse_error& error) {
      if (error.byte > text.size()) refuse(subject, "ends too early: it was cut off");
      // The parser's own sentence may quote all of a file that is large.
      refuse(subject, fmt::format("is not JSON, at byte {} of {}", error.byte, text.size()));
    } catch (const Json::exception&) {
      refuse(subject, "holds a number that no double can hold");
    }
  }

  // A key stands once in each object, and nothing is nested without end.
  void watch(int depth, Event event, const Json& parsed, const std::string& subject) {
    if (depth >= kMaxDepth) refuse(subject, fmt::format("nests more than {} values", kMaxDepth));
    if (event != Event::key && ++values_ > kMaxValues) {
      refuse(subject, fmt::format("has more than {} values in one record", kMaxValues));
    }
    if (event == Event::object_start) {
      keys_.emplace_back();
    } else if (event == Event::object_end) {
      keys_.pop_back();
    } else if (event == Event::key) {
      const std::string& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) {
        refuse(subject, fmt::format("has the key {} twice in one object", quoted(key)));
      }
      if (keys_.back().size() > kMaxKeys) {
        refuse(subject, fmt::format("has more than {} keys in one object", kMaxKeys));
      }
    }
  }

  // False for what the document need not keep.
  bool take(int depth, Event event, const Json& parsed) {
    if (depth == 1 && event == Event::key) {
      in_records_ = parsed.get_ref<const std::string&>() == "records";
    }
    if (in_records_ && depth == 1 && event == Event::array_start) has_list_ = true;
    if (!in_records_ || !has_list_ || depth != 2) return true;
    if (event == Event::value || event == Event::array_start) {
      refuse(path_, fmt::format("has a record that is no object: number {}", records_.size() + 1));
    }
    if (event != Event::object_end) return true;
    add(parsed);
    return false;
  }

  void add(const Json& object) {
    if (records_.size() == kMaxRecords) {
      refuse(path_, fmt::format("has more than {} records", kMaxRecords));
    }
    values_ = 0;
    ReadRecord& record = records_.emplace_back();
    record.file = path_;
    record.number = records_.size();
    for (const auto& [key, value] : object.items()) {
      if (key != "schema") record.cells.emplace_back(key, value_of(value));
    }
  }

  const std::string& path_;
  std::vector<std::set<std::string>> keys_;  // of each object that is open
  std::size_t values_ = 0;                   // since the last record, ends of lists included
  bool in_records_ = false, has_list_ = false;
  std::vector<ReadRecord> records_;
};

}  // namespace

const Value* ReadRecord::find(std::string_view key) const {
  const auto found =
      std::find_if(cells.begin(), cells.end(), [&](const auto& cell) { return cell.first == key; });
  return found == cells.end() ? nullptr : &found->second;
}

std::optional<double> ReadRecord::find_number(std::string_view key) const {
  const Value* const value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(value)) return static_cast<double>(*whole);
  if (const auto* fraction = std::get_if<double>(value)) return *fraction;
  return std::nullopt;
}

std::string ReadRecord::origin() const {
  return file.empty() ? fmt::format("record {}", number)
                      : fmt::format("{}, record {}", file, number);
}

std::vector<ReadRecord> read_records(const std::string& path) {
  const std::string content = content_of(path);
  // To the parser a zero byte is the end.
  if (content.find('\0') != std::string::npos) refuse(path, "is not JSON: it holds a zero byte");
  const std::string_view all = content;
  const std::string_view text = all.substr(0, all.find_last_not_of(kBlanks) + 1);
  if (text.empty()) refuse(path, "is empty");
  Reader reader(path);
  // A line of jsonl is whole by itself, and another one follows.
  const std::size_t end = text.find('\n');
  if (end != std::string_view::npos && Json::accept(text.substr(0, end))) {
    reader.read_lines(text);
  } else {
    reader.read_report(text);
  }
  return std::move(reader).records();
}

std::vector<ReadRecord> records_of(const Table& table) {
  std::vector<ReadRecord> records;
  for (const auto& row : table.rows) {
    ReadRecord& record = records.emplace_back();
    record.number = records.size();
    if (!table.name.empty()) record.cells.emplace_back("record", table.name);
    for (std::size_t j = 0; j < row.size(); ++j) {
      record.cells.emplace_back(table.columns[j].key, row[j]);
    }
  }
  return records;
}

}  // namespace swa::report
