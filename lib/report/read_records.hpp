// Records read back from a file that a command wrote as json or jsonl, or another tool in the same
// form: a JSON object whose "records" is a list of objects.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/report.hpp"

namespace swa::report {

// A cell is what report.hpp says of Value in JSON, read back: an int64 beyond 2^53 stays a string
// of digits, a NaN is null, and 1.0 is the whole number 1. What no Value is, such as a list of
// fractions, is kept as its JSON text.
struct ReadRecord {
  std::string file;                                  // as it was named to read_records()
  std::size_t number = 0;                            // within the file, from 1
  std::vector<std::pair<std::string, Value>> cells;  // in the order of the file, each key once

  // nullptr where there is no such key.
  const Value* find(std::string_view key) const;
  // Nothing where there is no such key, or its value is no number.
  std::optional<double> find_number(std::string_view key) const;
  // What sentences call it: "times.json, record 3".
  std::string origin() const;
};

// At least one. The "schema" that opens each line of jsonl is no cell. Throws UsageError where the
// file is not there, has more than 256 MiB, is no JSON, was cut off, or has no list of records or
// an empty one; and for what no command writes: records that are no objects, values nested deeper
// than 64, a key twice or more than 1000 keys in one object, more than a million records, or values
// in one of them.
std::vector<ReadRecord> read_records(const std::string& path);

// What a table would be read back as, but for how JSON spells its numbers.
std::vector<ReadRecord> records_of(const Table& table);

}  // namespace swa::report
