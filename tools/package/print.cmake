# Writes what the program prints of itself into INTO: a script of completion for each shell, and a
# manual page for swa and for each command.
cmake_minimum_required(VERSION 3.25)

function(print file)
  execute_process(COMMAND ${SWA} ${ARGN} OUTPUT_FILE ${INTO}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${INTO})
file(MAKE_DIRECTORY ${INTO}/bash ${INTO}/zsh ${INTO}/man1)
print(bash/swa --completion bash)
print(zsh/_swa --completion zsh)
print(man1/swa.1 --manual)
execute_process(COMMAND ${SWA} --words commands OUTPUT_VARIABLE commands
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" commands "${commands}")
foreach(command ${commands})
  print(man1/swa-${command}.1 --manual ${command})
endforeach()
file(TOUCH ${INTO}/stamp)
