#pragma once

#include <optional>

namespace swa::terminal {

// Columns of the terminal that standard output goes to; nothing where it goes elsewhere.
std::optional<int> columns();

}  // namespace swa::terminal
