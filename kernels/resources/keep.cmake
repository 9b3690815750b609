# Stands before nvcc where the kernels are compiled, as a compiler launcher:
#   cmake -P keep.cmake -- nvcc ARGUMENTS... -o OBJECT
# Keeps the PTX of each architecture, and what `ptxas -v` says, in the folder OBJECT.kept. They are
# of this very compilation: nothing is compiled a second time.
set(command)
set(at 0)
set(begun OFF)
while(at LESS CMAKE_ARGC)
  set(word "${CMAKE_ARGV${at}}")
  math(EXPR at "${at} + 1")
  if(begun)
    list(APPEND command "${word}")
    if(word STREQUAL "-o")
      set(kept "${CMAKE_ARGV${at}}.kept")
    endif()
  elseif(word STREQUAL "--")
    set(begun ON)
  endif()
endwhile()

file(REMOVE_RECURSE ${kept})
file(MAKE_DIRECTORY ${kept})
execute_process(COMMAND ${command} --keep --keep-dir ${kept} -Xptxas=-v
  RESULT_VARIABLE status ERROR_VARIABLE said)
file(WRITE ${kept}/ptxas.txt "${said}")

# What is no report is for whoever builds.
string(REGEX REPLACE "ptxas info[^\n]*\n( +[0-9]+ bytes stack frame[^\n]*\n)?" "" rest "${said}")
if(rest)
  message("${rest}")
endif()
if(NOT status EQUAL 0)
  message(FATAL_ERROR "nvcc ended with ${status}")
endif()

file(GLOB files ${kept}/*)
list(FILTER files EXCLUDE REGEX "/(ptxas\\.txt|[^/]*\\.ptx)$")
file(REMOVE ${files})
