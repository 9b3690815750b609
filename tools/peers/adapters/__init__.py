"""One library a file: NAME, WINDOW, prepare(call) -> run, and version(). See ../README.md."""
