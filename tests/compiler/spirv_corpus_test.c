/* SPDX-License-Identifier: MIT
 *
 * The front end over the corpus: a kernel either becomes IR that computes its
 * reference output, or is refused with the capability's or construct's name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir_eval.h"
#include "manifest.h"
#include "spirv_support.h"

/* Kernels of many threads are run elsewhere, on the simulator. */
#define MAX_STEPS 60000000ull

static char *corpus_file(const char *name, const char *suffix, size_t *size)
{
   char relative[192];
   snprintf(relative, sizeof(relative), "corpus/%s%s", name, suffix);
   char *path = agx_test_path(relative);
   char *bytes = agx_test_read_file(path, size);
   free(path);
   return bytes;
}

static void fill_inputs(struct ir_eval *eval, const struct agx_manifest *manifest)
{
   for (uint32_t i = 0; i < eval->shader->binding_count; i++) {
      const struct agx_program_binding *binding = &eval->shader->bindings[i];
      for (uint32_t r = 0; r < manifest->resource_count; r++) {
         const struct agx_manifest_resource *resource = &manifest->resources[r];
         if (resource->set != binding->set || resource->binding != binding->binding)
            continue;
         eval->buffers[i].size_B = resource->size_B;
         eval->buffers[i].data = malloc(resource->size_B);
         agx_manifest_fill(&resource->init, eval->buffers[i].data, resource->size_B, NULL, NULL);
      }
   }
}

static void check_outputs(const char *name, const struct ir_eval *eval,
                          const struct agx_manifest *manifest)
{
   for (uint32_t i = 0; i < eval->shader->binding_count; i++) {
      const struct agx_program_binding *binding = &eval->shader->bindings[i];
      for (uint32_t r = 0; r < manifest->resource_count; r++) {
         const struct agx_manifest_resource *resource = &manifest->resources[r];
         if (resource->set != binding->set || resource->binding != binding->binding ||
             !resource->is_output)
            continue;
         char suffix[32], text[256];
         size_t size;
         snprintf(suffix, sizeof(suffix), ".%u.bin", resource->id);
         char relative[128];
         snprintf(relative, sizeof(relative), "ref/%s", name);
         char *reference = corpus_file(relative, suffix, &size);
         assert_int_equal(size, resource->size_B);
         if (!agx_manifest_compare(manifest, eval->buffers[i].data, reference, size, text,
                                   sizeof(text)))
            fail_msg("%s: buffer %u: %s", name, resource->id, text);
         free(reference);
      }
   }
}

/* The evaluator has bindings, and no memory behind addresses. */
static bool takes_addresses(const struct agxc_shader *shader)
{
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         if (instr->op == AGXC_OP_LOAD_GLOBAL || instr->op == AGXC_OP_STORE_GLOBAL)
            return true;
   return false;
}

static bool crosses_lanes(const struct agxc_shader *shader)
{
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         if (agxc_flags(instr) & AGXC_CROSS_LANE)
            return true;
   return false;
}

static bool has_images(const struct agxc_shader *shader)
{
   for (uint32_t i = 0; i < shader->binding_count; i++)
      if (!agx_binding_is_buffer(shader->bindings[i].kind))
         return true;
   return false;
}

/* Returns false when it takes too long to say, or needs lanes at once, which the evaluator
 * does not have. */
static bool run_kernel(const char *name, const struct agxc_shader *shader,
                       const struct agx_manifest *manifest)
{
   struct ir_eval eval = {.shader = shader, .max_steps = MAX_STEPS};
   if (has_images(shader))
      return false;
   memcpy(eval.push, manifest->push, sizeof(eval.push));
   memcpy(eval.workgroups, manifest->workgroups, sizeof(eval.workgroups));
   fill_inputs(&eval, manifest);
   agx_status status = ir_eval_run(&eval);
   bool is_beyond =
      status == AGX_UNIMPLEMENTED && (crosses_lanes(shader) || takes_addresses(shader));
   if (status != AGX_DEADLINE_EXCEEDED && !is_beyond) {
      assert_ok(status);
      check_outputs(name, &eval, manifest);
   }
   for (uint32_t i = 0; i < shader->binding_count; i++)
      free(eval.buffers[i].data);
   return status == AGX_OK;
}

static const char *check_kernel(const char *name, unsigned tier)
{
   struct agx_manifest manifest;
   size_t size, text_size;
   char *spirv = corpus_file(name, ".spv", &size), *text = corpus_file(name, ".txt", &text_size);
   assert_ok(agx_manifest_parse(name, text, text_size, &manifest));
   struct agxc_spec specs[AGX_MANIFEST_MAX_SPECS];
   for (uint32_t i = 0; i < manifest.spec_count; i++)
      specs[i] = (struct agxc_spec){manifest.specs[i].id, 4, manifest.specs[i].value};
   struct agxc_options options = {.specs = specs, .spec_count = manifest.spec_count};
   struct spirv_front front;
   agx_status status = spirv_front_run(&front, spirv, size / 4, &options);
   const char *outcome = "refused";
   if (status == AGX_OK) {
      spirv_front_check(&front);
      outcome = run_kernel(name, front.shader, &manifest) ? "right" : "beyond the evaluator";
   } else if (tier == 1) {
      assert_ok(status);
   } else {
      assert_int_equal(status, AGX_UNIMPLEMENTED);
      print_message("%-22s ", agx_error_peek());
   }
   spirv_front_fini(&front);
   free(spirv);
   free(text);
   return outcome;
}

static void corpus_translates(void **state)
{
   size_t size;
   char *tiers = corpus_file("tiers", ".tsv", &size), *rest = tiers;
   unsigned right[4] = {0};
   for (char *line = strtok_r(tiers, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
      unsigned tier;
      char name[64];
      if (sscanf(line, "%u %63s", &tier, name) != 2 || tier > 3)
         continue;
      const char *outcome = check_kernel(name, tier);
      print_message("%u %-22s %s\n", tier, name, outcome);
      right[tier] += strcmp(outcome, "refused") != 0;
   }
   assert_int_equal(right[1], 22);
   free(tiers);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {cmocka_unit_test(corpus_translates)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
