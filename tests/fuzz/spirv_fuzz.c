/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the compiler: any bytes are a module. What the front end takes must be sound IR, and
 * what it refuses must be refused with one of three codes. Modules that it takes go through the
 * whole compiler as well, in every mode that changes the passes: plain, robust with few
 * registers, unoptimised, and without the validator, which would repair indices on its way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../compiler/spirv_support.h"
#include "agx/compiler/compiler.h"
#include "base/status.h"
#include "base/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refusal(agx_status status)
{
   if (status == AGX_OK || status == AGX_INVALID_ARGUMENT || status == AGX_UNIMPLEMENTED ||
       status == AGX_RESOURCE_EXHAUSTED)
      return;
   fprintf(stderr, "refused with %s: %s\n", agx_status_name(status), agx_error_peek());
   abort();
}

static void compile(const uint32_t *words, size_t count)
{
   static const struct agxc_options modes[] = {
      {.debug = AGXC_DEBUG_VALIDATE},
      {.robustness = AGXC_ROBUST_CLAMP, .most_halves = 64},
      {.debug = AGXC_DEBUG_NO_OPT},
      {.debug = AGXC_DEBUG_VALIDATE, .has_dynamic_local_size = true},
      {.robustness = AGXC_ROBUST_ZERO, .has_dynamic_local_size = true, .has_dynamic_shared = true},
   };
   for (size_t i = 0; i < AGX_COUNT(modes); i++) {
      struct agxc_options options = modes[i];
      struct agx_program *program = NULL;
      options.chip = agx_chip_find("g13g");
      agx_status status = agxc_compile(words, count * 4, &options, &program);
      check_refusal(status);
      if (status == AGX_OK)
         agx_program_free(program);
   }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
   uint32_t *words = malloc(size < 4 ? 4 : size / 4 * 4);
   struct spirv_front front;
   if (!words)
      return 0;
   memcpy(words, data, size / 4 * 4);
   agx_status status = spirv_front_run(&front, words, size / 4, NULL);
   check_refusal(status);
   if (status == AGX_OK)
      spirv_front_check(&front);
   spirv_front_fini(&front);
   if (status == AGX_OK)
      compile(words, size / 4);
   free(words);
   return 0;
}
