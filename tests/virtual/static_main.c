/* SPDX-License-Identifier: MIT
 *
 * The main() of static_client, which preload_test.c starts under `agx virtual`.
 */
#include "client.h"

int main(void)
{
   return client_calls();
}
