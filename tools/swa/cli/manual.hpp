// Manual pages in troff, for man.
#pragma once

#include <string>

#include "cli/option_table.hpp"

namespace swa::cli {

// swa-COMMAND(1) of a command, or swa(1) of "swa" or "". Throws UsageError for a command that is
// not there.
std::string manual_page(const OptionTable& table, const std::string& command,
                        const std::string& version);

}  // namespace swa::cli
