/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dense packing with the CPU's instructions: pack_vbmi.h if the CPU supports
 * it, and pack.h otherwise. Inlined into functions that are compiled for one
 * instruction set.
 */
#ifndef APS_BLOCKWISE_PACK_BLOCKS_H
#define APS_BLOCKWISE_PACK_BLOCKS_H

#include <stdbool.h>

#include "base/cpu.h"
#include "kernel/pack.h"
#if APS_CPU_X86
#include "simd/pack_vbmi.h"
#endif

/* Returns the bytes of n packed codes. */
APS_INLINE size_t aps_pack_bytes(size_t n, unsigned width)
{
    return (n * width + 7) / 8;
}

/* codes->code[n] -> wire, n a multiple of 64 and at most a chunk; destroys the
 * codes. Writes up to APS_PACK_SLACK bytes after them. */
APS_INLINE void aps_pack_blocks(struct aps_codes *codes, size_t n,
                                unsigned width, bool vbmi, uint8_t *wire)
{
#if APS_CPU_X86
    if (vbmi && width > 1 && width <= APS_PACK_VBMI_WIDTH) {
        aps_pack_vbmi(codes, n, width, wire);
        return;
    }
#endif
    (void)vbmi;
    aps_pack(codes, n, width, wire);
}

/* The inverse: wire -> codes->code[n]. Reads up to APS_PACK_SLACK bytes after
 * the wire. */
APS_INLINE void aps_unpack_blocks(const uint8_t *wire, size_t n, unsigned width,
                                  bool vbmi, struct aps_codes *codes)
{
#if APS_CPU_X86
    if (vbmi && width > 1 && width <= APS_PACK_VBMI_WIDTH) {
        aps_unpack_vbmi(wire, n, width, codes);
        return;
    }
#endif
    (void)vbmi;
    aps_unpack(wire, n, width, codes);
}

#endif
