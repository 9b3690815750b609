/* A plug-in that is right: attention.h, behind the one function. */
#include "attention.h"

int swa_plugin(struct swa_attention* attention) {
  SWA_PLUGIN_BEGIN(attention);
  attention->granule = 1; /* a key that a row does not see is never read for it */
  if (attention->task == SWA_DESCRIBE) return SWA_OK;
  if (attend(attention) == SWA_OK) return SWA_OK;
  strcpy(attention->message, "no memory for the weights of a row");
  return SWA_FAILED;
}
