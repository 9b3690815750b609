// A fault of the catalogue, shown: the records and sentences of trap-demo.
#pragma once

#include "report/report.hpp"
#include "verify/fault_demo.hpp"

namespace swa::commands {

// A table of the case that shows the fault and the one that hides it, and what there is to say.
void append_demo(report::Report& report, const FaultDemo& demo);

}  // namespace swa::commands
