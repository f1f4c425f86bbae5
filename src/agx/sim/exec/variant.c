/* SPDX-License-Identifier: MIT
 *
 * Chooses the variant of the exec functions that this machine runs best.
 * AGX_SIM_VARIANT=plain in the environment forces the portable one, for tests.
 */
#include "agx/sim/exec/exec.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifdef AGXS_HAS_AVX2
#include <cpuid.h>

/* What the variant is compiled for; not every compiler's own test knows F16C. Asked once:
 * under a hypervisor cpuid costs as much as a small dispatch. */
static bool has_avx2(void)
{
   enum {
      UNKNOWN,
      NO,
      YES
   };
   static atomic_int known;
   int answer = atomic_load_explicit(&known, memory_order_relaxed);
   unsigned a, b, c = 0, d;
   if (answer == UNKNOWN) {
      bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                 __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
      answer = has ? YES : NO;
      atomic_store_explicit(&known, answer, memory_order_relaxed);
   }
   return answer == YES;
}
#endif

const struct agxs_exec_set *agxs_exec_best(void)
{
#ifdef AGXS_HAS_AVX2
   const char *wanted = getenv("AGX_SIM_VARIANT");
   bool is_plain = wanted && strcmp(wanted, "plain") == 0;
   if (!is_plain && has_avx2())
      return &agxs_exec_set_avx2;
#endif
   return &agxs_exec_set_plain;
}
