/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packed policies come back. Bytes that were cut short or changed are an error,
 * or another source, and nothing is read beyond them.
 */
#include "config.h"

#include "job/policy_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tap/tap.h"

/* Unpacks a copy of its own, so that tools find a read beyond its end. Returns
 * 0 or errno. */
static int unpack(const char *bytes, size_t size)
{
    struct aps_policy_source source = {0};
    char *copy = malloc(size + (size == 0));
    int rc;

    if (!copy)
        bail_out("out of memory");
    memcpy(copy, bytes, size);
    rc = aps_policy_text_unpack(copy, size, &source) < 0 ? errno : 0;
    if (rc == 0 && (!source.path || strlen(source.path) > size ||
                    !source.text || source.length > size))
        rc = -1;
    aps_policy_source_clear(&source);
    free(copy);
    return rc;
}

int main(void)
{
    struct aps_policy_source source = {
        .path = (char *)"p.yaml",
        .text = (char *)"version: 1\n",
        .length = 11,
        .layers_path = (char *)"t.csv",
        .layers_text = (char *)"layer,name,count\n",
        .layers_length = 17,
    };
    struct aps_policy_source back = {0};
    bool cut = true, changed = true;
    char *bytes;
    size_t size;

    if (aps_policy_text_pack(&source, &bytes, &size) < 0)
        bail_out("out of memory");
    ok(aps_policy_text_unpack(bytes, size, &back) == 0, "a source comes back");
    is(back.path, source.path, "... its path");
    is(back.text, source.text, "... its text");
    is(back.layers_text, source.layers_text, "... its table");
    ok(!back.shadow, "... no candidates");
    aps_policy_source_clear(&back);
    for (size_t length = 0; length < size; length++)
        cut &= unpack(bytes, length) == EPROTO;
    ok(cut, "every shorter text is an error");
    for (size_t i = 0; i < 8 * size; i++) {
        bytes[i / 8] ^= (char)(1 << i % 8);
        changed &= unpack(bytes, size) >= 0;
        bytes[i / 8] ^= (char)(1 << i % 8);
    }
    ok(changed, "every changed bit is an error or another source");
    free(bytes);
    return done_testing();
}
