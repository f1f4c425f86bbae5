/* SPDX-License-Identifier: MIT */
#pragma once

#include "hal/core/context.h"
#include "winsys/winsys.h"
#include "hal/executable/kept_ir.h"
#include "hal/executable/launch_template.h"
#include "program/guards.h"

struct agx_executable {
   struct agx_object object;
   struct agx_device *device;
   struct agx_module *module; /* retained; holds program */
   const struct agx_program *program;
   /* The unchecked variant, for dispatches of which all guards hold; NULL: there is none. */
   struct agx_executable *unchecked;
   struct agx_guards guards;
   /* Of an executable with several entry points: all of them, itself the first; else NULL and 1.
    * Each holds on to what it needs. */
   struct agx_executable **entries;
   uint32_t entry_count;
   char label[AGX_NAME_BYTES]; /* the kernel's name, unless the application gave a label */
   uint64_t tag;               /* the application's; of the entries and of unchecked, too */
   uint32_t entry;             /* its number among the entries */
   struct agx_kept_ir ir;      /* of all entries, in what the application holds */
   bool is_own;                /* the driver's own, which don't keep the device */
   struct agxw_bo *bo;         /* machine code, in the USC window */
   uint32_t code_offset_B;     /* of the main program from the start of the window */
   uint32_t preamble_offset_B; /* likewise; meaningless without one */
   uint64_t data_va;           /* of the program's data; meaningless without any */
   struct agx_plan plan;       /* what its launches have in common */
   struct agx_launch_template template;
};

/* One entry point, NULL: there are fewer. */
static inline struct agx_executable *agx_executable_entry(struct agx_executable *executable,
                                                          uint32_t entry)
{
   if (entry >= executable->entry_count)
      return NULL;
   return entry ? executable->entries[entry] : executable;
}

/* The same, AGX_OUT_OF_RANGE; executable itself stays as it is on failure. */
AGX_MUST_CHECK agx_status agx_executable_resolve(struct agx_executable *executable, uint32_t entry,
                                                 struct agx_executable **out_entry);

/* That it is one, and the device's. */
AGX_MUST_CHECK agx_status agx_executable_check(const struct agx_executable *executable,
                                               const struct agx_device *device);

/* Reads or compiles what the application hands in; a reference of the module. ir, of zeros, gets
 * the texts that desc asks for, also when it fails: agx_kept_ir_fini. */
AGX_MUST_CHECK agx_status agx_executable_load(struct agx_device *device,
                                              const struct agx_executable_desc *desc,
                                              struct agx_kept_ir *ir,
                                              struct agx_module **out_module);

/* One of the driver's own kernels, which lives as long as the device. Takes the program over, also
 * on failure. */
AGX_MUST_CHECK agx_status agx_executable_create_own(struct agx_device *device,
                                                    struct agx_program *program,
                                                    struct agx_executable **out_executable);
