# Installs the build, builds a project against it, moves the tree, and does both again: what was
# installed works, wherever it lies, and knows nothing of the source tree.
#   cmake -D BUILD=… -D SOURCE=… -D CONFIG=… -D GENERATOR=… -D FLAGS=… -D CUDA=… -P install_test.cmake
cmake_minimum_required(VERSION 3.25)

set(scratch ${BUILD}/tests/package)
unset(ENV{SWA_DATA_DIR})

function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE status)
  set(out "${out}" PARENT_SCOPE)
  set(status "${status}" PARENT_SCOPE)
  set(err "${err}" PARENT_SCOPE)
endfunction()

function(expect_success)
  run(${ARGN})
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "status ${status}: ${ARGN}\n${out}${err}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

function(check_binary prefix)
  expect_success(${prefix}/bin/swa --version)
  expect_success(${prefix}/bin/swa kv-budget --model gemma2-27b)
  expect_success(${prefix}/bin/swa verify --W 100 --nq 96 --nk 600)
  expect_success(${prefix}/bin/swa --words suites)
  # The data are those that were installed, and no others.
  file(RENAME ${prefix}/share/swa/models ${prefix}/share/swa/elsewhere)
  run(${prefix}/bin/swa kv-budget --model gemma2-27b)
  file(RENAME ${prefix}/share/swa/elsewhere ${prefix}/share/swa/models)
  string(FIND "${err}" "${prefix}/share/swa" at)
  if(NOT status EQUAL 3 OR at EQUAL -1)
    message(FATAL_ERROR "without its models swa ended with ${status}: ${err}")
  endif()
endfunction()

function(check_consumer prefix)
  file(REMOVE_RECURSE ${scratch}/consumer)
  expect_success(${CMAKE_COMMAND} -S ${SOURCE}/tests/package/consumer -B ${scratch}/consumer
    -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=${CONFIG}
    -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}"
    -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
  expect_success(${CMAKE_COMMAND} --build ${scratch}/consumer)
  expect_success(${scratch}/consumer/consumer)
  # 5 query tiles; a row of a tile sees 8 keys before its first: 1 + 4 x 2 tiles.
  set(wanted "cpu-tiled: pass\nvisited: 9\ncuda: ${CUDA}\n")
  string(FIND "${out}" "${wanted}" at)
  if(NOT at EQUAL 0)
    message(FATAL_ERROR "the consumer printed\n${out}and not\n${wanted}")
  endif()
endfunction()

file(REMOVE_RECURSE ${scratch}/first ${scratch}/moved)
expect_success(${CMAKE_COMMAND} --install ${BUILD} --prefix ${scratch}/first)

foreach(file bin/swa share/swa/models/gemma.toml share/bash-completion/completions/swa
    share/zsh/site-functions/_swa share/man/man1/swa.1 share/man/man1/swa-verify.1
    share/man/man1/swa-kv-budget.1 include/swa/mask/window.hpp include/swa/kernels/forward.hpp include/swa/kernels/about.hpp
    include/swa_plugin.h)
  if(NOT EXISTS ${scratch}/first/${file})
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()

file(GLOB_RECURSE headers ${scratch}/first/include/*.hpp)
foreach(header ${headers})
  file(STRINGS ${header} private REGEX "Private to this room")
  if(private)
    message(FATAL_ERROR "${header} is private to its room, and was installed")
  endif()
endforeach()

# Debug information and assertions name sources, so only a release is free of them.
if(CONFIG STREQUAL "Release")
  file(GLOB_RECURSE files ${scratch}/first/*)
  foreach(file ${files})
    file(STRINGS ${file} lines)
    foreach(path ${SOURCE} ${BUILD} ${scratch})
      string(FIND "${lines}" "${path}" at)
      if(NOT at EQUAL -1)
        message(FATAL_ERROR "${file} holds the path ${path}")
      endif()
    endforeach()
  endforeach()
else()
  message(STATUS "a ${CONFIG} build: paths in the binaries were not searched for")
endif()

check_binary(${scratch}/first)
check_consumer(${scratch}/first)
file(RENAME ${scratch}/first ${scratch}/moved)
check_binary(${scratch}/moved)
check_consumer(${scratch}/moved)
file(REMOVE_RECURSE ${scratch}/moved ${scratch}/consumer)
