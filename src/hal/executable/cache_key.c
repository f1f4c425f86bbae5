/* SPDX-License-Identifier: MIT
 *
 * Keys of compiled kernels. A compiler that was built from other sources has another id, so it
 * never takes what an older one has left; and SHA-256 over everything means that no program can
 * make a module that gets another one's code.
 */
#include "hal/executable/cache_key.h"

#include "compiler_id.h" /* made while building, from the compiler's sources */

static void add_specs(struct agx_digest *digest, const struct agxc_options *options)
{
   agx_digest_add_u64(digest, options->spec_count);
   for (uint32_t i = 0; i < options->spec_count; i++) {
      agx_digest_add_u64(digest, options->specs[i].id);
      agx_digest_add_u64(digest, options->specs[i].bytes);
      agx_digest_add_u64(digest, options->specs[i].value);
   }
}

static void add_robustness(struct agx_digest *digest, const struct agxc_options *options)
{
   agx_digest_add_u64(digest, options->robustness);
   agx_digest_add_u64(digest, options->robust_binding_count);
   for (uint32_t i = 0; i < options->robust_binding_count; i++) {
      agx_digest_add_u64(digest, options->robust_bindings[i].set);
      agx_digest_add_u64(digest, options->robust_bindings[i].binding);
      agx_digest_add_u64(digest, options->robust_bindings[i].robustness);
   }
}

static void add_attributes(struct agx_digest *digest, const struct agxc_options *options)
{
   agx_digest_add_u64(digest, options->index_B);
   agx_digest_add_u64(digest, options->attribute_count);
   for (uint32_t i = 0; i < options->attribute_count; i++) {
      const struct agxc_attribute *attribute = &options->attributes[i];
      agx_digest_add_u64(digest, attribute->location);
      agx_digest_add_text(digest, attribute->format->name);
      agx_digest_add_u64(digest, attribute->stride_B);
      agx_digest_add_u64(digest, attribute->per_instance);
      agx_digest_add_u64(digest, attribute->divisor);
   }
}

void agx_cache_key_make(const void *spirv, size_t size, const struct agxc_options *options,
                        const char *compiler_id, struct agx_cache_key *out_key)
{
   struct agx_digest digest;
   agx_digest_init(&digest);
   agx_digest_add_text(&digest, compiler_id ? compiler_id : AGX_COMPILER_ID);
   agx_digest_add_u64(&digest, AGX_PROGRAM_ABI_VERSION);
   agx_digest_add_text(&digest, options->chip->name);
   agx_digest_add_text(&digest, options->entry);
   agx_digest_add_u64(&digest, options->debug);
   agx_digest_add_u64(&digest, options->most_halves);
   agx_digest_add_u64(&digest, options->has_dynamic_local_size);
   agx_digest_add_u64(&digest, options->has_dynamic_shared);
   agx_digest_add_u64(&digest, options->heap_sets);
   add_specs(&digest, options);
   add_robustness(&digest, options);
   add_attributes(&digest, options);
   agx_digest_add_u64(&digest, size);
   agx_digest_add(&digest, spirv, size);
   out_key->material_B = digest.bytes;
   agx_digest_end(&digest, out_key->digest);
}
