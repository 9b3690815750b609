#include "commands/drawn_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "error.hpp"

namespace swa::commands {
namespace {

using report::ReadRecord;
using report::Value;

constexpr std::size_t kLongestName = 80;  // a longer one leaves the page

[[noreturn]] void refuse(const ReadRecord& record, const std::string& why) {
  throw UsageError(fmt::format("{} {}", record.origin(), why),
                   "a figure of times is drawn from the records of swa bench, or of a tool that "
                   "writes the same keys");
}

const Value& needed(const ReadRecord& record, const std::string& key) {
  const Value* const value = record.find(key);
  if (value == nullptr) refuse(record, fmt::format("has no '{}'", key));
  return *value;
}

bool is_null(const Value& value) {
  return std::holds_alternative<std::monostate>(value);
}

Index size_of(const ReadRecord& record, const std::string& key) {
  const auto* const size = std::get_if<std::int64_t>(&needed(record, key));
  if (size == nullptr || *size < 1) refuse(record, fmt::format("has no size as its '{}'", key));
  return *size;
}

double seconds_of(const ReadRecord& record) {
  const double seconds = record.find_number("seconds").value_or(0);
  if (!(seconds > 0) || !std::isfinite(seconds * 1e3)) {
    refuse(record, "has no time as its 'seconds'");
  }
  return seconds;
}

// Words for what of a record a name has to say where records differ in it.
std::string regime_of(const ReadRecord& record) {
  const Value* const value = record.find("regime");
  const auto* const word = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return word == nullptr ? "" : *word;
}

std::string threads_of(const ReadRecord& record) {
  const auto threads = record.find_number("threads");
  return !threads ? "" : fmt::format("{} {}", *threads, *threads == 1 ? "thread" : "threads");
}

// Names of the lines that records belong to.
class Names {
 public:
  explicit Names(const std::vector<ReadRecord>& records) {
    for (const ReadRecord& record : records) {
      regimes_.insert(regime_of(record));
      threads_.insert(threads_of(record));
    }
    // GPU records state no threads, and need not be told apart from those that do.
    regimes_.erase("");
    threads_.erase("");
  }
  std::string operator()(const ReadRecord& record) const {
    const auto* const kernel = std::get_if<std::string>(&needed(record, "kernel"));
    if (kernel == nullptr || kernel->empty()) refuse(record, "has no name as its 'kernel'");
    std::string name = *kernel;
    const auto say = [&](const std::string& words, const std::set<std::string>& all) {
      if (all.size() > 1 && !words.empty()) name += ", " + words;
    };
    say(regime_of(record), regimes_);
    say(threads_of(record), threads_);
    if (name.size() > kLongestName) {
      refuse(record, fmt::format("has a kernel of more than {} characters", kLongestName));
    }
    return name;
  }

 private:
  std::set<std::string> regimes_, threads_;
};

}  // namespace

std::vector<figures::TimePoint> time_points(const std::vector<ReadRecord>& records) {
  const Names name_of(records);
  std::vector<figures::TimePoint> points;
  std::map<std::tuple<std::string, Index, Index>, const ReadRecord*> seen;
  for (const ReadRecord& record : records) {
    const bool windowed = !is_null(needed(record, "window"));
    const std::string name = name_of(record);
    const Index n_q = size_of(record, "n_q"), window = size_of(record, windowed ? "window" : "n_k");
    if (is_null(needed(record, "seconds"))) continue;
    const auto [twin, is_new] = seen.try_emplace({name, n_q, window}, &record);
    if (!is_new) {
      refuse(record, fmt::format("would be drawn on the point of record {}: both are {}, n_q {}, "
                                 "window {}",
                                 twin->second->number, name, n_q, window));
    }
    points.push_back({name, n_q, window, seconds_of(record) * 1e3});
  }
  return points;
}

std::string roofline_of(const std::vector<ReadRecord>& records, const std::string& title) {
  std::vector<figures::RooflinePoint> points;
  figures::RooflineRoofs roofs;
  std::map<std::string, double> units;
  for (const ReadRecord& record : records) {
    if (is_null(needed(record, "seconds"))) continue;
    const auto number = [&](const std::string& key) {
      const auto found = record.find_number(key);
      if (!found || !(*found > 0)) {
        throw UsageError(fmt::format("{} has no '{}'", record.origin(), key),
                         "a roofline is drawn from the records of swa bench on a GPU");
      }
      return *found;
    };
    const double seconds = number("seconds"), bytes = number("bytes"),
                 flops = number("useful_flops");
    const auto* const kernel = std::get_if<std::string>(&needed(record, "kernel"));
    points.push_back({kernel == nullptr ? "" : *kernel, flops / bytes, flops / seconds * 1e-12});
    roofs.bytes_per_s =
        std::max(roofs.bytes_per_s, bytes / (seconds * number("share_of_memory_roof")));
    for (const std::string of : {"mma", "fastest"}) {
      const auto* const unit = std::get_if<std::string>(&needed(record, of + "_unit"));
      const auto roof = record.find_number(of + "_roof_flops_per_s");
      if (unit != nullptr && roof) units[*unit] = std::max(units[*unit], *roof);
    }
  }
  roofs.flops_per_s.assign(units.begin(), units.end());
  return figures::roofline(points, roofs, title);
}

}  // namespace swa::commands
