/* SPDX-License-Identifier: MIT
 *
 * The simulator that nodes execute with unless a test sets another one.
 */
#include "winsys/virtual/virtual.h"

agx_virtual_run_compute_fn *agx_virtual_default_run_compute(void)
{
   return agxs_run_compute;
}
