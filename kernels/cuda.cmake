# Makes CUDA a language of the project, for the GPUs that SWA_ARCHS names: of each the machine code,
# and with `all` besides PTX, which later GPUs translate. Included at the top, since what links the
# kernels lies in several folders.
string(REPLACE "," ";" archs "${SWA_ARCHS}")
set(later)
if(archs STREQUAL "all")
  set(archs 80 89 90a)
  set(later 90-virtual)
endif()

foreach(arch IN LISTS archs)
  if(NOT arch MATCHES "^(8[0-9]|9[0-9]|1[0-9][0-9])a?$")
    message(FATAL_ERROR "SWA_ARCHS=${SWA_ARCHS}: '${arch}' is not the compute capability of a GPU that "
      "the kernels run on. Give those from 80 on, such as 80;90a, or all, or leave it empty.")
  endif()
endforeach()

set(nvcc ${CMAKE_CUDA_COMPILER})
if(NOT nvcc)
  set(nvcc $ENV{CUDACXX})
endif()
if(NOT nvcc)
  find_program(SWA_NVCC nvcc PATHS /usr/local/cuda/bin)
  set(nvcc ${SWA_NVCC})
endif()
if(NOT nvcc)
  message(FATAL_ERROR "SWA_ARCHS=${SWA_ARCHS} asks for CUDA kernels, but nvcc is neither on PATH nor "
    "in /usr/local/cuda/bin. Install the CUDA Toolkit, name its nvcc with -DCMAKE_CUDA_COMPILER=FILE, "
    "or leave SWA_ARCHS empty.")
endif()
set(CMAKE_CUDA_COMPILER ${nvcc})

# It lists 90 for 90a.
execute_process(COMMAND ${nvcc} --list-gpu-code OUTPUT_VARIABLE codes ERROR_VARIABLE codes
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "SWA_ARCHS=${SWA_ARCHS} asks for CUDA kernels, but ${nvcc} does not run "
    "(${status}): ${codes}")
endif()
foreach(arch IN LISTS archs)
  string(REGEX REPLACE "a$" "" listed ${arch})
  if(NOT codes MATCHES "sm_${listed}\n")
    string(REPLACE "\n" " " codes "${codes}")
    message(FATAL_ERROR "SWA_ARCHS=${SWA_ARCHS}: ${nvcc} compiles for ${codes}and not for ${arch}.")
  endif()
endforeach()

list(TRANSFORM archs APPEND "-real" OUTPUT_VARIABLE CMAKE_CUDA_ARCHITECTURES)
list(APPEND CMAKE_CUDA_ARCHITECTURES ${later})
list(TRANSFORM archs PREPEND "sm_")
list(JOIN archs ", " SWA_ARCH_NAMES)
if(later)
  string(APPEND SWA_ARCH_NAMES " and PTX for later ones")
endif()

enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "the CUDA kernels are C++20, which CUDA has from 12.0 on, and "
    "${nvcc} is of CUDA ${CMAKE_CUDA_COMPILER_VERSION}.")
endif()
# CMake 3.25 does not know that nvcc has C++20.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_EXTENSIONS OFF)
find_package(CUDAToolkit REQUIRED)
