#include "commands/verify_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace swa::commands {
namespace {

// How often each word came up, in the order in which they did first.
class Tally {
 public:
  void add(const std::string& word) {
    const auto known = std::find_if(counts_.begin(), counts_.end(),
                                    [&](const auto& one) { return one.first == word; });
    if (known == counts_.end()) {
      counts_.emplace_back(word, 1);
    } else {
      ++known->second;
    }
  }
  const std::vector<std::pair<std::string, Index>>& counts() const { return counts_; }

 private:
  std::vector<std::pair<std::string, Index>> counts_;
};

}  // namespace

std::vector<std::string> suspects_of(const Verdict& verdict) {
  std::vector<std::string> names;
  for (const Diagnosis& d : verdict.diagnoses) {
    names.push_back(d.name());
    for (const FaultSet& same : d.equivalent) names.push_back(name_of(same));
  }
  return names;
}

std::vector<std::string> common_faults(const std::vector<Failure>& failures) {
  Tally kernels;
  for (const Failure& f : failures) kernels.add(f.kernel);
  std::vector<std::string> lines;
  for (const auto& [kernel, failed] : kernels.counts()) {
    Tally suspects;
    for (const Failure& f : failures) {
      if (f.kernel != kernel) continue;
      for (const std::string& fault : f.suspects) suspects.add(fault);
    }
    if (failed < 2 || suspects.counts().empty()) continue;
    const auto most =
        std::max_element(suspects.counts().begin(), suspects.counts().end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    std::string line = fmt::format("{}: {} explains {} of the {} that did not pass", kernel,
                                   most->first, most->second, failed);
    std::string separator = "; so does ";
    for (const auto& [fault, count] : suspects.counts()) {
      if (fault == most->first || count != most->second) continue;
      line += separator + fault;
      separator = ", ";
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> reasons_of_unsupported(const std::vector<std::string>& reasons) {
  constexpr std::size_t kMost = 8;
  Tally tally;
  for (const std::string& reason : reasons) tally.add(reason);
  const auto& counts = tally.counts();
  std::vector<std::string> lines;
  if (!counts.empty()) {
    lines.push_back(fmt::format("{} unsupported, which is no failure:", reasons.size()));
  }
  for (std::size_t i = 0; i < std::min(counts.size(), kMost); ++i) {
    lines.push_back(fmt::format("  {}: {}", counts[i].second, counts[i].first));
  }
  if (counts.size() > kMost) {
    lines.push_back(fmt::format("  ... and {} more", counts.size() - kMost));
  }
  return lines;
}

}  // namespace swa::commands
