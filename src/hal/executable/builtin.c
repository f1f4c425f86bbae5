/* SPDX-License-Identifier: MIT
 *
 * Loads the driver's own kernels (fill, copy) when the first transfer needs one; record/transfer.c
 * asks for them.
 */
#include "hal/executable/builtin.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "hal/executable/executable.h"
#include "hal/executable/state.h"

struct builtin_row {
   const char *chip;
   struct {
      const void *bytes;
      size_t size;
   } images[AGX_BUILTIN_COUNT];
};

#include "builtin_images.inc"

void agx_builtins_init(struct agx_builtins *builtins)
{
   pthread_mutex_init(&builtins->lock, NULL);
}

void agx_builtins_fini(struct agx_builtins *builtins)
{
   for (int i = 0; i < AGX_BUILTIN_COUNT; i++)
      agx_release(atomic_load(&builtins->executables[i]));
   pthread_mutex_destroy(&builtins->lock);
}

static agx_status load(struct agx_device *device, enum agx_builtin which,
                       struct agx_executable **out_executable)
{
   const struct agx_chip *chip = agxw_device_info(agx_context_of(device)->winsys)->chip;
   const struct builtin_row *row = builtin_rows;
   while (row < builtin_rows + AGX_COUNT(builtin_rows) && strcmp(row->chip, chip->name) != 0)
      row++;
   if (row == builtin_rows + AGX_COUNT(builtin_rows))
      return AGX_FAIL(AGX_INTERNAL, "device: no kernels were built in for %s", chip->name);
   struct agx_program *program = NULL;
   AGX_TRY(agx_program_read_elf(row->images[which].bytes, row->images[which].size,
                                agx_context_of(device)->alloc, &program));
   snprintf(program->chip, sizeof(program->chip), "%s", chip->name);
   return agx_executable_create_own(device, program, out_executable);
}

agx_status agx_device_builtin(struct agx_device *device, enum agx_builtin which,
                              struct agx_executable **out_executable)
{
   struct agx_builtins *builtins = &agx_executables_of(device)->builtins;
   agx_status status = AGX_OK;
   *out_executable = atomic_load_explicit(&builtins->executables[which], memory_order_acquire);
   if (*out_executable)
      return AGX_OK;
   pthread_mutex_lock(&builtins->lock);
   *out_executable = atomic_load(&builtins->executables[which]);
   if (!*out_executable)
      status = load(device, which, out_executable);
   if (status == AGX_OK)
      atomic_store(&builtins->executables[which], *out_executable);
   pthread_mutex_unlock(&builtins->lock);
   return status;
}
