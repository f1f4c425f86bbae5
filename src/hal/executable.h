/* SPDX-License-Identifier: MIT */
#pragma once

#include "agx/hw/cdm.h"
#include "agx/hw/usc.h"
#include "hal/device.h"
#include "program/program.h"

struct agx_executable {
   struct agx_object object;
   struct agx_device *device;
   struct agx_module *module; /* retained; holds program */
   const struct agx_program *program;
   /* The twin without checks, for dispatches that stay inside; NULL: there is none. */
   struct agx_executable *inside;
   /* Of an executable with several entry points: all of them, itself the first; else NULL and 1.
    * Each holds on to what it needs. */
   struct agx_executable **entries;
   uint32_t entry_count;
   bool is_own;                           /* the driver's own, which don't keep the device */
   struct agxw_bo *bo;                    /* machine code, in the USC window */
   uint32_t code_offset_B;                /* of the main program from the start of the window */
   uint32_t preamble_offset_B;            /* likewise; meaningless without one */
   uint32_t uniform_B;                    /* bytes of uniform contents a dispatch provides */
   uint32_t texture_count, sampler_count; /* state registers */

   /* What is the same in each dispatch, made once (command_encode.c). */
   struct agx_hw_launch launch;                   /* all but USC words and grid */
   uint8_t words_tail[AGX_HW_USC_TAIL_MAX_BYTES]; /* of the USC words, behind the Uniform words */
   uint32_t words_tail_B;
};

/* Bytes of descriptors a dispatch provides: textures, then samplers. */
static inline uint32_t agx_executable_state_B(const struct agx_executable *executable)
{
   return executable->texture_count * AGX_HW_TEXTURE_BYTES +
          executable->sampler_count * AGX_HW_SAMPLER_BYTES;
}

/* One entry point, NULL: there are fewer. */
static inline struct agx_executable *agx_executable_entry(struct agx_executable *executable,
                                                          uint32_t entry)
{
   if (entry >= executable->entry_count)
      return NULL;
   return entry ? executable->entries[entry] : executable;
}

/* Reads or compiles what the application hands in; a reference of the module. */
AGX_MUST_CHECK agx_status agx_executable_load(struct agx_device *device,
                                              const struct agx_executable_desc *desc,
                                              struct agx_module **out_module);

/* One of the driver's own kernels, which lives as long as the device. Takes the program over, also
 * on failure. */
AGX_MUST_CHECK agx_status agx_executable_create_own(struct agx_device *device,
                                                    struct agx_program *program,
                                                    struct agx_executable **out_executable);

/* Makes launch and words_tail. */
AGX_MUST_CHECK agx_status agx_executable_pack(struct agx_executable *executable);
