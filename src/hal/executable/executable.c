/* SPDX-License-Identifier: MIT
 *
 * Executables: the programs of a module, their machine code in the USC window.
 */
#include "hal/executable/executable.h"

#include <stdio.h>
#include <string.h>

#include "base/debug.h"
#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/executable/executable_cache.h"
#include "hal/core/host_span.h"
#include "hal/executable/state.h"

/* Entry points are placed at this alignment by every known compiler.
 * Source: docs/hw/machine.md, section 1. */
#define CODE_ALIGN 128u
/* The prefetcher reads on behind the end. Source: docs/hw/cmdstream.md 2.2. */
#define CODE_TAIL_B 256u

/* Places the machine code, and remembers where. */
static agx_status upload(struct agx_executable *executable)
{
   const struct agx_program *program = executable->program;
   struct agx_device *device = executable->device;
   uint64_t preamble_at = agx_align_up(program->code_B, CODE_ALIGN);
   uint64_t data_at = agx_align_up(preamble_at + program->preamble_B + CODE_TAIL_B, CODE_ALIGN);
   uint64_t size = data_at + program->data_B;
   void *memory = NULL;
   AGX_TRY(agxw_bo_create(agx_context_of(device)->winsys, size, 0, AGXW_BO_USC | AGXW_BO_READ_ONLY,
                          program->name, &executable->bo));
   AGX_TRY(agxw_bo_map(executable->bo, &memory));
   memcpy(memory, program->code, program->code_B);
   if (program->preamble_B)
      memcpy((char *)memory + preamble_at, program->preamble, program->preamble_B);
   if (program->data_B)
      memcpy((char *)memory + data_at, program->data, program->data_B);
   executable->data_va = agxw_bo_va(executable->bo) + data_at;
   uint64_t offset =
      agxw_bo_va(executable->bo) - agxw_device_info(agx_context_of(device)->winsys)->usc_base;
   executable->code_offset_B = (uint32_t)offset;
   executable->preamble_offset_B = (uint32_t)(offset + preamble_at);
   return AGX_OK;
}

static void destroy(struct agx_executable *executable)
{
   struct agx_device *device = executable->device;
   if (executable->bo)
      agxw_bo_destroy(executable->bo);
   if (executable->unchecked)
      agx_release(executable->unchecked);
   agx_launch_template_fini(&executable->template, agx_context_of(device)->alloc);
   agx_guards_fini(&executable->guards, agx_context_of(device)->alloc);
   for (uint32_t i = 1; i < executable->entry_count; i++)
      if (executable->entries[i])
         agx_release(executable->entries[i]);
   if (executable->entries)
      agx_host_free(agx_context_of(device)->alloc, executable->entries,
                    executable->entry_count * sizeof(struct agx_executable *));
   agx_module_release(executable->module);
   agx_kept_ir_fini(&executable->ir);
   bool is_own = executable->is_own;
   agx_host_free(agx_context_of(device)->alloc, executable, sizeof(*executable));
   if (!is_own)
      agx_release(device);
}

static void executable_destroy(struct agx_object *object)
{
   destroy(agx_container_of(object, struct agx_executable, object));
}

/* Of one entry point and its unchecked variant. */
static void label_entry(struct agx_executable *entry, const char *label, bool is_only)
{
   const char *kernel = is_only && label ? "" : entry->program->name;
   char text[2 * AGX_NAME_BYTES];
   snprintf(text, sizeof(text), "%.*s%s%.*s", AGX_NAME_BYTES - 1, label ? label : "",
            label && !is_only ? "." : "", AGX_NAME_BYTES - 1, kernel);
   agx_label_write(entry->device, entry->label, sizeof(entry->label), text);
   agxw_bo_set_label(entry->bo, entry->label);
   if (entry->unchecked)
      label_entry(entry->unchecked, entry->label, true);
}

static void executable_set_label(struct agx_object *object, const char *label)
{
   struct agx_executable *executable = agx_container_of(object, struct agx_executable, object);
   for (uint32_t i = 0; i < executable->entry_count; i++)
      label_entry(agx_executable_entry(executable, i), label, executable->entry_count == 1);
}

static const struct agx_object_type executable_type = {"executable", executable_destroy,
                                                       executable_set_label};

static agx_status check_program(const struct agx_program *program)
{
   uint32_t threads = program->local_size[0] * program->local_size[1] * program->local_size[2];
   if (threads > agx_occupancy_threads(program->gpr_halves))
      return AGX_FAIL(AGX_OUT_OF_RANGE,
                      "executable %s: a workgroup of %u threads with %u register halves each does "
                      "not fit on a core; at most %u do",
                      program->name, threads, program->gpr_halves,
                      agx_occupancy_threads(program->gpr_halves));
   return AGX_OK;
}

static agx_status plan(struct agx_executable *executable, const struct agxw_device_info *info)
{
   const struct agx_plan_code code = {executable->code_offset_B, executable->preamble_offset_B};
   AGX_TRY(agx_plan_make(info->chip, executable->program, &code, &executable->plan));
   return agx_launch_template_init(executable->program, &executable->plan, executable->data_va,
                                   agx_context_of(executable->device)->alloc,
                                   &executable->template);
}

static agx_status load(struct agx_device *device, struct agx_module *module,
                       const struct agx_program *program, bool is_own,
                       struct agx_executable **out_executable);

static agx_status load_unchecked(struct agx_executable *executable, bool is_own)
{
   struct agx_device *device = executable->device;
   const struct agx_program *program = executable->program;
   AGX_TRY(agx_guards_init(program, agx_context_of(device)->alloc, &executable->guards));
   return load(device, executable->module, program->unchecked, is_own, &executable->unchecked);
}

/* Loads one program of the module. */
static agx_status load(struct agx_device *device, struct agx_module *module,
                       const struct agx_program *program, bool is_own,
                       struct agx_executable **out_executable)
{
   const struct agxw_device_info *info = agxw_device_info(agx_context_of(device)->winsys);
   struct agx_executable *executable =
      agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*executable));
   if (!executable)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "executable: out of host memory");
   agx_object_init(&executable->object, &executable_type);
   if (!is_own)
      agx_retain(device);
   executable->is_own = is_own;
   executable->device = device;
   executable->module = agx_module_retain(module);
   executable->program = program;
   executable->entry_count = 1;
   snprintf(executable->label, sizeof(executable->label), "%.*s", AGX_NAME_BYTES - 1,
            program->name);
   agx_status status = check_program(program);
   if (status == AGX_OK)
      status = upload(executable);
   if (status == AGX_OK)
      status = plan(executable, info);
   if (status == AGX_OK && program->unchecked &&
       !(agx_context_of(device)->debug & AGX_DEBUG_CHECKED))
      status = load_unchecked(executable, is_own);
   if (status != AGX_OK) {
      destroy(executable);
      return status;
   }
   *out_executable = executable;
   return AGX_OK;
}

/* Further entry points stand in a table of the first one's. */
static agx_status load_others(struct agx_executable *first, struct agx_module *module)
{
   struct agx_device *device = first->device;
   if (module->program_count == 1)
      return AGX_OK;
   first->entries = agx_host_zalloc(agx_context_of(device)->alloc,
                                    module->program_count * sizeof(struct agx_executable *));
   if (!first->entries)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "executable: out of host memory");
   first->entry_count = module->program_count;
   first->entries[0] = first;
   for (uint32_t i = 1; i < module->program_count; i++)
      AGX_TRY(load(device, module, module->programs[i], false, &first->entries[i]));
   return AGX_OK;
}

static agx_status create(struct agx_device *device, struct agx_module *module, const char *entry,
                         struct agx_executable **out_executable)
{
   uint32_t index = entry ? agx_module_find(module, entry) : 0;
   /* The compiler cuts long names. */
   const struct agx_program *program = module->programs[index < module->program_count ? index : 0];
   struct agx_executable *executable = NULL;
   AGX_TRY(load(device, module, program, false, &executable));
   agx_status status = entry ? AGX_OK : load_others(executable, module);
   if (status != AGX_OK) {
      destroy(executable);
      return status;
   }
   *out_executable = executable;
   return AGX_OK;
}

agx_status agx_executable_check(const struct agx_executable *executable,
                                const struct agx_device *device)
{
   if (!executable)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch: the executable is NULL");
   if (executable->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch of %s: an executable %s",
                      executable->program->name,
                      agx_describe_owner(executable->device, device).text);
   return AGX_OK;
}

/* The application's tag, and which of the entry points each is. */
static void name_entries(struct agx_executable *executable, uint64_t tag)
{
   for (uint32_t i = 0; i < executable->entry_count; i++) {
      struct agx_executable *entry = agx_executable_entry(executable, i);
      entry->tag = tag;
      entry->entry = i;
      if (entry->unchecked) {
         entry->unchecked->tag = tag;
         entry->unchecked->entry = i;
      }
   }
}

agx_status agx_executable_create(struct agx_device *device, const struct agx_executable_desc *desc,
                                 struct agx_executable **out_executable)
{
   struct agx_executable_desc read;
   struct agx_module *module;
   struct agx_kept_ir ir = {0};
   *out_executable = NULL;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(agx_desc_read("agx_executable_desc", desc, &read, sizeof(read)));
   uint64_t start_ns = agx_profile_host_begin(device);
   agx_status status = agx_executable_load(device, &read, &ir, &module);
   if (status == AGX_OK)
      status = create(device, module, read.entry, out_executable);
   if (status != AGX_OK) {
      agx_kept_ir_fini(&ir);
      agx_module_release(module);
      return status;
   }
   (*out_executable)->ir = ir;
   name_entries(*out_executable, read.tag);
   if (read.label)
      executable_set_label(&(*out_executable)->object, read.label);
   agx_module_release(module);
   agx_profile_host_end(device, "load executable", read.entry, start_ns);
   return AGX_OK;
}

void agx_device_get_cache_stats(struct agx_device *device, struct agx_cache_stats *out_stats)
{
   struct agx_executable_cache_stats memory = {0};
   struct agx_disk_cache_stats disk = {0};
   if (!agx_is_inherited(device)) {
      agx_executable_cache_query_stats(agx_executables_of(device)->cache, &memory);
      agx_disk_cache_get_stats(&agx_executables_of(device)->cache->disk, &disk);
   }
   const struct agx_cache_stats stats = {
      .memory_hits = memory.hits,
      .memory_misses = memory.misses,
      .memory_entries = memory.entries,
      .memory_B = memory.bytes,
      .compiles = memory.compiles,
      .disk_hits = disk.hits,
      .disk_misses = disk.misses,
      .disk_stored = disk.stored,
      .disk_store_failures = disk.store_failures,
      .disk_dropped = disk.dropped,
      .disk_evicted = disk.evicted,
   };
   agx_info_write_or_log(device, "agx_cache_stats", out_stats, &stats, sizeof(stats));
}

agx_status agx_executable_create_own(struct agx_device *device, struct agx_program *program,
                                     struct agx_executable **out_executable)
{
   struct agx_module *module;
   *out_executable = NULL;
   AGX_TRY(agx_module_create(&program, 1, agx_context_of(device)->alloc, &module));
   agx_status status = load(device, module, module->programs[0], true, out_executable);
   agx_module_release(module);
   return status;
}

/* ---- the room's state ---------------------------------------------------- */

agx_status agx_executable_state_init(struct agx_device *device)
{
   const struct agx_context *context = agx_context_of(device);
   struct agx_executable_state *state = agx_executables_of(device);
   AGX_TRY(agx_executable_cache_create(context->alloc, context->debug, &state->cache));
   state->cache->disk.log = context->log;
   agx_builtins_init(&state->builtins);
   return AGX_OK;
}

void agx_executable_state_fini(struct agx_device *device)
{
   struct agx_executable_state *state = agx_executables_of(device);
   if (!state->cache)
      return;
   agx_builtins_fini(&state->builtins);
   agx_executable_cache_destroy(state->cache);
}
