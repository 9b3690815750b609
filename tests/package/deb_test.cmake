# Makes the Debian package and looks into it.
#   cmake -D BUILD=… -D CPACK=… -D VERSION=… -D SHLIBDEPS=… -P deb_test.cmake
cmake_minimum_required(VERSION 3.25)

find_program(dpkg_deb dpkg-deb)
if(NOT dpkg_deb)
  message("swa test skipped: dpkg-deb is not installed")
  return()
endif()
if(NOT SHLIBDEPS)
  message("swa test skipped: dpkg-shlibdeps is not installed")
  return()
endif()
set(scratch ${BUILD}/tests/deb)
file(REMOVE_RECURSE ${scratch})
unset(ENV{SWA_DATA_DIR})

execute_process(COMMAND ${CPACK} -G DEB --config ${BUILD}/CPackConfig.cmake -B ${scratch}
  OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE status)
file(GLOB packages ${scratch}/*.deb)
list(LENGTH packages count)
if(NOT status EQUAL 0 OR NOT count EQUAL 1)
  message(FATAL_ERROR "cpack made ${count} packages, status ${status}:\n${out}")
endif()

execute_process(COMMAND ${dpkg_deb} --field ${packages} OUTPUT_VARIABLE fields
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${dpkg_deb} --contents ${packages} OUTPUT_VARIABLE contents
  COMMAND_ERROR_IS_FATAL ANY)
foreach(field "Package: swa\n" "Version: ${VERSION}\n"
    "Maintainer: swa developers <swa@localhost>\n")
  string(FIND "${fields}" "${field}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "no '${field}' in\n${fields}")
  endif()
endforeach()
# A sanitized program needs its sanitizers' libraries too, and they come first.
if(NOT fields MATCHES "\nDepends: ([^\n]+, )?libc6 \\(>= ")
  message(FATAL_ERROR "the package does not depend on libc6:\n${fields}")
endif()
foreach(path /usr/bin/swa /usr/share/swa/models/gemma.toml /usr/share/man/man1/swa.1.gz
    /usr/share/man/man1/swa-verify.1.gz /usr/share/bash-completion/completions/swa
    /usr/share/zsh/vendor-completions/_swa /usr/include/swa_plugin.h)
  string(FIND "${contents}" ".${path}\n" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "no ${path} in\n${contents}")
  endif()
endforeach()
if(contents MATCHES "\\.hpp|\\.a\n")
  message(FATAL_ERROR "the program's package holds parts of the library:\n${contents}")
endif()

execute_process(COMMAND ${dpkg_deb} --extract ${packages} ${scratch}/tree
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${scratch}/tree/usr/bin/swa kv-budget --model gemma2-27b
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${scratch})
