/* SPDX-License-Identifier: MIT
 *
 * One variant's exec functions as a table; compiled once per variant.
 */
#include "agx/sim/exec/exec.h"

#include "agx/sim/exec/functions_impl.h"

#define AGXS_STRING_(name) #name
#define AGXS_STRING(name)  AGXS_STRING_(name)

const struct agxs_exec_set AGXS_PASTE(agxs_exec_set, AGXS_VARIANT) = {
   .name = AGXS_STRING(AGXS_VARIANT),
   .exec =
      {
#define X(name) AGXS_EXEC(name),
         AGXS_EXEC_LIST(X)
#undef X
      },
};
