/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "measure/rank_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world/nodes.h"
#include "message/agree.h"

void aps_rank_layout_clear(struct aps_rank_layout *site)
{
    aps_vcomm_clear(&site->local);
    free(site->host_of);
    free(site->local_of);
    free(site->ranks);
    free(site->nodes);
}

/* Pretends `hosts` hosts of consecutive ranks, for tests (APSMPI_TEST_NODES). */
static void pretend_hosts(struct aps_rank_layout *site, int hosts)
{
    const int size = site->vcomm.size;

    for (int i = 0; i < size; i++) {
        site->nodes[i] = i;
        if (i > 0 && (long)i * hosts / size == (long)(i - 1) * hosts / size)
            site->nodes[i] = site->nodes[i - 1];
    }
}

/* Numbers the hosts in the order of their lowest ranks. Returns the number of
 * hosts. */
static int number_hosts(struct aps_rank_layout *site)
{
    const int size = site->vcomm.size;
    int hosts = 0;

    for (int i = 0; i < size; i++) {
        const int lowest = site->nodes[i];

        if (lowest == i) {
            site->host_of[i] = hosts++;
            site->local_of[i] = 0;
            continue;
        }
        site->host_of[i] = site->host_of[lowest];
        site->local_of[i] = 1;
        for (int k = lowest + 1; k < i; k++)
            site->local_of[i] += site->nodes[k] == lowest;
    }
    return hosts;
}

static int arrange(struct aps_rank_layout *site, char *cause, size_t size)
{
    const int ranks = site->vcomm.size;

    site->hosts = number_hosts(site);
    site->per_host = ranks / site->hosts;
    for (int i = 0; i < ranks; i++) {
        if (site->local_of[i] >= site->per_host) {
            snprintf(cause, size,
                     "%d ranks on %d hosts: each host must have as many "
                     "(rank %d is one too many for its own)",
                     ranks, site->hosts, i);
            return -1;
        }
        site->ranks[site->host_of[i] * site->per_host + site->local_of[i]] = i;
    }
    site->host = site->host_of[site->vcomm.rank];
    return aps_vcomm_divide(&site->local, &site->vcomm, APS_PART_GROUP,
                            site->per_host, site->local_of[site->vcomm.rank],
                            site->ranks + site->host * site->per_host);
}

int aps_rank_layout_find(MPI_Comm comm, int pretended,
                         struct aps_rank_layout *site, char *cause, size_t size)
{
    size_t count;
    bool good;

    memset(site, 0, sizeof *site);
    site->vcomm = aps_vcomm_all(comm, 0);
    count = (size_t)site->vcomm.size;
    site->host_of = calloc(count, sizeof *site->host_of);
    site->local_of = calloc(count, sizeof *site->local_of);
    site->ranks = calloc(count, sizeof *site->ranks);
    site->nodes = calloc(count, sizeof *site->nodes);
    snprintf(cause, size, "out of memory");
    good = site->host_of && site->local_of && site->ranks && site->nodes;
    (void)aps_agree_all(&site->vcomm, &good);
    if (!good)
        return -1;
    if (aps_nodes_find(comm, site->nodes) != MPI_SUCCESS) {
        snprintf(cause, size, "MPI does not say which ranks share a host");
        return -1;
    }
    if (pretended > 0)
        pretend_hosts(site, pretended);
    good = arrange(site, cause, size) == 0;
    (void)aps_agree_all(&site->vcomm, &good);
    if (!good)
        return -1;
    aps_agree_cores(&site->local);
    return 0;
}

int aps_rank_layout_host_on(const struct aps_rank_layout *site, int hosts)
{
    const int host = (site->host + hosts + site->hosts) % site->hosts;

    return site
        ->ranks[host * site->per_host + site->local_of[site->vcomm.rank]];
}

int aps_rank_layout_place_on(const struct aps_rank_layout *site, int places)
{
    const int place =
        (site->local_of[site->vcomm.rank] + places + site->per_host) %
        site->per_host;

    return site->ranks[site->host * site->per_host + place];
}

double aps_rank_layout_max(struct aps_rank_layout *site, double value)
{
    /* The bits of floats of 0 or more are in the order of the floats. */
    float number = (float)value;
    int bits;

    memcpy(&bits, &number, sizeof bits);
    if (site->failed || aps_agree_max(&site->vcomm, 1, &bits) != MPI_SUCCESS) {
        site->failed = true;
        return 1;
    }
    memcpy(&number, &bits, sizeof number);
    return (double)number;
}

int aps_rank_layout_agree(struct aps_rank_layout *site, bool good)
{
    return aps_rank_layout_max(site, good ? 0 : 1) == 0 ? 0 : -1;
}
