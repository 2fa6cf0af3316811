/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads the plugin as libapsmpi.so does, and prints whether it can work here:
 *
 *     load PLUGIN VERSION
 *
 * prints `open` or `closed: cause`.
 */
#include "config.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cuda/plugin.h"

int main(int argc, char **argv)
{
    const struct aps_cuda_plugin *plugin;
    char cause[512] = "";
    void *library;

    if (argc != 3) {
        fprintf(stderr, "usage: load PLUGIN VERSION\n");
        return 2;
    }
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    plugin = dlsym(library, APS_CUDA_SYMBOL);
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    if (plugin->identity != APS_CUDA_IDENTITY ||
        strcmp(plugin->version, argv[2]) != 0) {
        fprintf(stderr, "interface %016" PRIx64 ", version %.31s\n",
                plugin->identity, plugin->version);
        return 1;
    }
    if (plugin->open(cause, sizeof cause) == 0)
        printf("open\n");
    else
        printf("closed: %s\n", cause);
    return 0;
}
