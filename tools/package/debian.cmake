# Debian's habits, on the tree that CPack is about to pack: manual pages are compressed, and zsh looks
# for the completion of packages in a folder of its own.
file(GLOB_RECURSE pages "${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man1/*.1")
find_program(gzip gzip)
if(pages AND gzip)
  execute_process(COMMAND ${gzip} --best --no-name ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
file(GLOB zsh "${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/zsh")
foreach(folder ${zsh})
  file(RENAME ${folder}/site-functions ${folder}/vendor-completions)
endforeach()
