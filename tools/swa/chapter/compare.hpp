// The chapter's figures beside ours.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "chapter/figures.hpp"

namespace swa::chapter {

// What the chapter printed, by table and row.
using Printed = std::map<std::pair<std::string, std::string>, std::string>;

// Reads lines of table, row and figure, separated by tabs; # begins a comment line.
// Throws UsageError with file and line for anything else, and for a row that stands twice.
Printed read_printed(const std::string& path);

struct Verdict {
  Figure figure;
  std::string chapter;  // empty where the chapter's file lacks the row
  // ok, differs, beyond bound, other kernel, waiting, not in the file (ours alone), not computed
  // (theirs alone)
  std::string verdict;
  bool wrong = false;  // neither ok, nor other kernel, nor waiting
};

// One verdict for each figure, then one for each printed row that no figure matches.
std::vector<Verdict> compare(const std::vector<Figure>& figures, const Printed& printed);

}  // namespace swa::chapter
