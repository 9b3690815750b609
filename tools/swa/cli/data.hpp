#pragma once

#include <string>

namespace swa::cli {

// A file or folder of the project's data: under $SWA_DATA_DIR where that is set, else beside an
// installed binary (../share/swa), else in the source tree that the binary was built from.
// Throws CannotRun where none of them has it.
std::string data_path(const std::string& name);

}  // namespace swa::cli
