// Parse, run one command, write its report, map errors to the exit status.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>

#include "cli/program.hpp"
#include "error.hpp"
#include "kernels/forward.hpp"
#include "verify/plugin.hpp"

namespace {

// What was typed is quoted: a terminal should not obey it, and a sentence stay on its line.
std::string one_line(std::string text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(text.begin(), text.end(), is_control, '?');
  return text;
}

int complain(const std::string& who, const swa::Error& error, int status) {
  std::string text = fmt::format("{}: {}\n", who, one_line(error.what()));
  if (!error.remedy().empty()) text += fmt::format("  {}\n", one_line(error.remedy()));
  std::fputs(text.c_str(), stderr);  // where stderr is closed, the status still tells
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (swa::is_plugin_host(argc, argv)) {
    return swa::run_plugin_host(argc, argv, swa::device_mirror);
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its limit is an error of the write, with a sentence
  swa::cli::Program program;
  try {
    return program.run(argc, argv, std::cout);
  } catch (const swa::UsageError& error) {
    return complain(program.name(), error, 2);
  } catch (const swa::CannotRun& error) {
    return complain(program.name(), error, 3);
  } catch (const std::bad_alloc&) {
    return complain(program.name(),
                    swa::CannotRun("there is not enough memory", "ask for a smaller problem"), 3);
  } catch (const std::exception& error) {
    return complain(program.name(),
                    swa::Error(fmt::format("a defect of swa: {}", error.what()),
                               "please report it, with the command line"),
                    4);
  }
}
