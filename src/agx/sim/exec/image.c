/* SPDX-License-Identifier: MIT
 *
 * Exec functions of textures, images and tile memory.
 */
#include "agx/sim/exec/functions_impl.h"
#include "agx/sim/image/image.h"

const struct agxs_uop *AGXS_EXEC(sample)(struct agxs_group *group, const struct agxs_uop *uop)
{
   return agxs_image_sample(group, uop) ? uop + 1 : NULL;
}

const struct agxs_uop *AGXS_EXEC(image_write)(struct agxs_group *group, const struct agxs_uop *uop)
{
   return agxs_image_write(group, uop) ? uop + 1 : NULL;
}

const struct agxs_uop *AGXS_EXEC(image_write_block)(struct agxs_group *group,
                                                    const struct agxs_uop *uop)
{
   /* As long as a thousand others: it ends the group's time slice, so that limits are looked at. */
   if (agxs_image_write_block(group, uop))
      group->next = uop + 1;
   return NULL;
}

const struct agxs_uop *AGXS_EXEC(texture_state)(struct agxs_group *group,
                                                const struct agxs_uop *uop)
{
   return agxs_image_load_state(group, uop, false) ? uop + 1 : NULL;
}

const struct agxs_uop *AGXS_EXEC(sampler_state)(struct agxs_group *group,
                                                const struct agxs_uop *uop)
{
   return agxs_image_load_state(group, uop, true) ? uop + 1 : NULL;
}

const struct agxs_uop *AGXS_EXEC(tile_load)(struct agxs_group *group, const struct agxs_uop *uop)
{
   return agxs_image_tile(group, uop, false) ? uop + 1 : NULL;
}

const struct agxs_uop *AGXS_EXEC(tile_store)(struct agxs_group *group, const struct agxs_uop *uop)
{
   return agxs_image_tile(group, uop, true) ? uop + 1 : NULL;
}
