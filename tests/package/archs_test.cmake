# GPUs that cannot be compiled for, and a missing nvcc, end the configuration with a sentence.
#   cmake -D BUILD=… -D SOURCE=… -D GENERATOR=… -P archs_test.cmake
cmake_minimum_required(VERSION 3.25)

set(scratch ${BUILD}/tests/archs)

function(expect_refusal sentence)
  file(REMOVE_RECURSE ${scratch})
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${scratch} -G ${GENERATOR} ${ARGN}
    OUTPUT_QUIET ERROR_VARIABLE said RESULT_VARIABLE status)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  string(FIND "${said}" "${sentence}" at)
  if(status EQUAL 0 OR at EQUAL -1)
    message(FATAL_ERROR "status ${status}, without '${sentence}': ${ARGN}\n${said}")
  endif()
endfunction()

unset(ENV{CUDACXX})
foreach(wrong sm_80 75 90b 80.0 none "80 90a")
  expect_refusal("SWA_ARCHS=${wrong}: '${wrong}' is not the compute capability" "-DSWA_ARCHS=${wrong}")
endforeach()
expect_refusal("'' is not the compute capability" "-DSWA_ARCHS=80\;\;90a")
expect_refusal("'x' is not the compute capability" -DSWA_ARCHS=80,x)
# As if find_program had found none.
expect_refusal("nvcc is neither on PATH nor in /usr/local/cuda/bin" -DSWA_ARCHS=80 -DSWA_NVCC=)
expect_refusal("/no/nvcc does not run" -DSWA_ARCHS=80 -DCMAKE_CUDA_COMPILER=/no/nvcc)
find_program(nvcc nvcc PATHS /usr/local/cuda/bin)
if(nvcc)
  expect_refusal("and not for 99." -DSWA_ARCHS=99)
endif()
file(REMOVE_RECURSE ${scratch})
