/* A shared library whose author misspelt the one function. */
int swa_plug_in(void);
int swa_plug_in(void) {
  return 0;
}
