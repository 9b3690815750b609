/* The same attention with one planted fault: W is passed on as a left count, so that each query
 * sees one key too many. */
#include "attention.h"

int swa_plugin(struct swa_attention* attention) {
  struct swa_attention wrong;
  SWA_PLUGIN_BEGIN(attention);
  attention->granule = 1;
  if (attention->window == 0) {
    strcpy(attention->message, "only causal windows");
    return SWA_UNSUPPORTED;
  }
  if (attention->task == SWA_DESCRIBE) return SWA_OK;
  wrong = *attention;
  wrong.left = attention->window;
  return attend(&wrong);
}
