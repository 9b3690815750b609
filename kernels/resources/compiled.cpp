#include "kernels/resources/compiled.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace swa {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trim(std::string_view text, std::string_view of = kBlanks) {
  const std::size_t first = text.find_first_not_of(of);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(of) - first + 1);
}

// Calls `use` for each piece between separators.
template <class Use>
void for_each_piece(std::string_view text, char separator, Use use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// What stands between the two, or nothing.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  const std::size_t end = text.find(after);
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

// The number right before these words; 0 where they are missing.
int number_before(std::string_view line, std::string_view words) {
  const std::size_t end = line.find(words);
  if (end == std::string_view::npos) return 0;
  std::size_t first = end;
  while (first > 0 && line[first - 1] >= '0' && line[first - 1] <= '9') --first;
  int value = 0;
  std::from_chars(line.data() + first, line.data() + end, value);
  return value;
}

bool multiplies(std::string_view opcode) {
  return opcode.starts_with("mma.") || opcode.starts_with("wgmma.mma") ||
         opcode.starts_with("wmma.mma") || opcode.starts_with("tcgen05.mma");
}
bool copies(std::string_view opcode) {
  return opcode.starts_with("ldmatrix.") || opcode.starts_with("stmatrix.") ||
         opcode.starts_with("cp.async.") || opcode.starts_with("wmma.load") ||
         opcode.starts_with("wmma.store");
}

// At the commas outside of braces and brackets.
std::vector<std::string_view> operands_of(std::string_view text) {
  std::vector<std::string_view> operands;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (i < text.size() && (c != ',' || depth > 0)) continue;
    operands.push_back(trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return operands;
}

std::vector<std::string> registers_of(std::string_view operand) {
  std::vector<std::string> registers;
  for_each_piece(trim(operand, "{} \t"), ',',
                 [&](std::string_view one) { registers.emplace_back(trim(one)); });
  return registers;
}

// Reads the text of one architecture from top to bottom.
class PtxReader {
 public:
  std::vector<CompiledKernel> read(std::string_view text) {
    for_each_piece(text, '\n', [&](std::string_view line) {
      line = trim(line.substr(0, line.find("//")));
      if (line.starts_with(".target")) {
        arch_ = trim(line.substr(7, line.find(',') - 7));
      } else if (const auto entry = trim(between(line, ".entry ", "(")); !entry.empty()) {
        begin(std::string(entry));
      } else if (line.starts_with(".func") || line.find(" .func") != std::string_view::npos) {
        finish();
        inside_ = false;
      } else {
        for_each_piece(line, ';', [&](std::string_view one) { instruction(trim(one, "{} \t")); });
      }
    });
    finish();
    return std::move(kernels_);
  }

 private:
  enum class Loaded { plain, transposed };

  void begin(std::string entry) {
    finish();
    CompiledKernel kernel;
    kernel.entry = std::move(entry);
    kernel.arch = arch_;
    kernels_.push_back(std::move(kernel));
    inside_ = true;
  }

  void finish() {
    if (!kernels_.empty() && inside_) {
      kernels_.back().mma.assign(mma_.begin(), mma_.end());
      kernels_.back().copies.assign(copies_.begin(), copies_.end());
    }
    mma_.clear();
    copies_.clear();
    loaded_.clear();
  }

  void instruction(std::string_view text) {
    if (text.starts_with('@')) text = trim(text.substr(std::min(text.find(' '), text.size())));
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    const std::string_view opcode = text.substr(0, end);
    const bool of_matrices = multiplies(opcode) || copies(opcode);
    if (of_matrices && !inside_) {
      throw std::runtime_error(std::string(opcode) + " stands in a function that is no kernel");
    }
    if (!inside_) return;
    if (multiplies(opcode)) mma_.emplace(opcode);
    if (copies(opcode)) copies_.emplace(opcode);
    follow(opcode, operands_of(text.substr(end)));
  }

  // Which registers ldmatrix wrote last, and how. One pass from top to bottom will do: the values
  // that a loop hands on are moved from register to register.
  void follow(std::string_view opcode, const std::vector<std::string_view>& operands) {
    if (opcode.starts_with("mma.sync.")) {
      count(operands.size() > 2 ? registers_of(operands[2]) : std::vector<std::string>());
      return;
    }
    if (operands.empty()) return;
    const bool loads = opcode.starts_with("ldmatrix.");
    const bool moves = opcode == "mov.b32" && operands.size() == 2;
    const auto source = moves ? loaded_.find(std::string(operands[1])) : loaded_.end();
    const bool transposed = loads ? opcode.find(".trans") != std::string_view::npos
                                  : source != loaded_.end() && source->second == Loaded::transposed;
    const bool known = loads || source != loaded_.end();
    for (const std::string& written : registers_of(operands[0])) {
      if (known) {
        loaded_[written] = transposed ? Loaded::transposed : Loaded::plain;
      } else {
        loaded_.erase(written);
      }
    }
  }

  void count(const std::vector<std::string>& factor) {
    const auto all = [&](Loaded how) {
      return !factor.empty() && std::all_of(factor.begin(), factor.end(), [&](const auto& one) {
        const auto found = loaded_.find(one);
        return found != loaded_.end() && found->second == how;
      });
    };
    CompiledKernel& kernel = kernels_.back();
    ++(all(Loaded::plain)        ? kernel.mma_plain
       : all(Loaded::transposed) ? kernel.mma_transposed
                                 : kernel.mma_other);
  }

  std::string arch_;
  std::vector<CompiledKernel> kernels_;
  bool inside_ = false;  // of a kernel
  std::set<std::string> mma_, copies_;
  std::unordered_map<std::string, Loaded> loaded_;
};

struct Reported {
  int registers = 0, spill_stores = 0, spill_loads = 0, static_smem = 0;
};
// Of warpgroup products that wait for each other ptxas tells before it names the GPU.
constexpr std::string_view kOneByOne = "wgmma.mma_async instructions are serialized";
using Report = std::map<std::pair<std::string, std::string>, Reported>;  // by arch and entry

std::set<std::string> read_one_by_one(std::string_view text) {
  std::set<std::string> entries;
  for_each_piece(text, '\n', [&](std::string_view line) {
    if (line.find(kOneByOne) == std::string_view::npos) return;
    entries.emplace(between(line, "function '", "'"));
  });
  return entries;
}

Report read_report(std::string_view text) {
  Report report;
  Reported* current = nullptr;
  for_each_piece(text, '\n', [&](std::string_view line) {
    const std::string_view entry = between(line, "Compiling entry function '", "'");
    if (!entry.empty()) {
      current = &report[{std::string(between(line, " for '", "'")), std::string(entry)}];
    } else if (current != nullptr && line.find("bytes spill stores") != std::string_view::npos) {
      current->spill_stores = number_before(line, " bytes spill stores");
      current->spill_loads = number_before(line, " bytes spill loads");
    } else if (current != nullptr && line.find(" registers") != std::string_view::npos) {
      current->registers = number_before(line, " registers");
      current->static_smem = number_before(line, " bytes smem");
    }
  });
  return report;
}

}  // namespace

std::vector<CompiledKernel> compiled_kernels_of(const std::vector<std::string>& ptx,
                                                std::string_view report) {
  Report reported = read_report(report);
  if (reported.empty()) throw std::runtime_error("ptxas reported no kernel");
  const std::set<std::string> one_by_one = read_one_by_one(report);
  std::vector<CompiledKernel> kernels;
  for (const std::string& text : ptx) {
    for (CompiledKernel& kernel : PtxReader().read(text)) {
      const auto found = reported.find({kernel.arch, kernel.entry});
      if (found == reported.end()) continue;
      const Reported& r = found->second;
      if (r.registers == 0) throw std::runtime_error("ptxas named no registers of " + kernel.entry);
      kernel.registers = r.registers;
      kernel.spill_stores = r.spill_stores;
      kernel.spill_loads = r.spill_loads;
      kernel.static_smem = r.static_smem;
      kernel.one_by_one = one_by_one.count(kernel.entry) > 0;
      kernels.push_back(std::move(kernel));
      reported.erase(found);
    }
  }
  if (!reported.empty()) {
    throw std::runtime_error("no PTX for " + reported.begin()->first.first + " has the kernel " +
                             reported.begin()->first.second);
  }
  return kernels;
}

}  // namespace swa
