# Debian's manual pages are compressed. CPack runs this on the tree that it is about to pack.
file(GLOB_RECURSE pages "${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man1/*.1")
find_program(gzip gzip)
if(pages AND gzip)
  execute_process(COMMAND ${gzip} --best --no-name ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
