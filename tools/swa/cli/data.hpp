#pragma once

#include <string>

namespace swa::cli {

// A file or folder of the project's data: under $SWA_DATA_DIR where that is set, else in
// ../share/swa beside the binary: there an installed one has the data, and one in a build folder
// has a link to the source tree. So no binary holds a path, and an installed tree can be moved.
// Throws CannotRun where it is not there.
std::string data_path(const std::string& name);

}  // namespace swa::cli
