/* SPDX-License-Identifier: BSD-3-Clause */
#include "digits_network.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"
#include "digits_random.h"

#ifdef WITH_DEVICE
#include "device.h"
#endif

void network_destroy(struct network *net)
{
#ifdef WITH_DEVICE
    device_free(net->device_param);
    device_free(net->device_grad);
#endif
    free(net->param);
    free(net->grad);
    free(net->velocity);
    for (int l = 0; l <= LAYERS; l++) {
        free(net->act[l]);
        free(net->delta[l]);
    }
}

int network_create(int hidden, int rows, uint64_t *random, struct network *net)
{
    const int width[] = {FEATURES, hidden, hidden, CLASSES};
    size_t size;

    *net = (struct network){0};
    for (int l = 0; l <= LAYERS; l++)
        net->width[l] = width[l];
    for (int l = 0; l < LAYERS; l++) {
        net->start[2 * l + 1] = net->start[2 * l] + width[l] * width[l + 1];
        net->start[2 * l + 2] = net->start[2 * l + 1] + width[l + 1];
    }
    size = (size_t)net->start[TENSORS];
    net->param = calloc(size, sizeof *net->param);
    net->grad = calloc(size, sizeof *net->grad);
    net->velocity = calloc(size, sizeof *net->velocity);
    if (net->param == NULL || net->grad == NULL || net->velocity == NULL)
        goto destroy_network;
#ifdef WITH_DEVICE
    net->device_param = device_alloc(size * sizeof *net->device_param);
    net->device_grad = device_alloc(size * sizeof *net->device_grad);
    if (net->device_param == NULL || net->device_grad == NULL)
        goto destroy_network;
#endif
    for (int l = 0; l <= LAYERS; l++) {
        const size_t cells = (size_t)rows * (size_t)width[l];

        net->act[l] = calloc(cells, sizeof *net->act[l]);
        net->delta[l] = calloc(cells, sizeof *net->delta[l]);
        if (net->act[l] == NULL || net->delta[l] == NULL)
            goto destroy_network;
    }

    /* He's initialisation, uniform; biases stay 0. */
    for (int l = 0; l < LAYERS; l++) {
        const float bound = sqrtf(6.0f / (float)width[l]);

        for (int i = net->start[2 * l]; i < net->start[2 * l + 1]; i++)
            net->param[i] = (2.0f * random_unit(random) - 1.0f) * bound;
    }
    return 0;
destroy_network:
    network_destroy(net);
    *net = (struct network){0};
    return -1;
}

void network_forward(struct network *net, int rows)
{
    for (int l = 0; l < LAYERS; l++) {
        const int in = net->width[l], out = net->width[l + 1];
        const float *w = net->param + net->start[2 * l];
        const float *b = net->param + net->start[2 * l + 1];

        for (int n = 0; n < rows; n++) {
            const float *x = net->act[l] + (size_t)n * (size_t)in;
            float *restrict y = net->act[l + 1] + (size_t)n * (size_t)out;

            memcpy(y, b, (size_t)out * sizeof *y);
            for (int i = 0; i < in; i++) {
                const float *restrict wi = w + i * out;

                for (int j = 0; j < out; j++)
                    y[j] += x[i] * wi[j];
            }
            if (l == LAYERS - 1)
                continue;
            /* ReLU, written so that NaN passes, forward and backward */
            for (int j = 0; j < out; j++)
                y[j] = y[j] <= 0.0f ? 0.0f : y[j];
        }
    }
}

double network_loss(struct network *net, int rows, const unsigned char *label,
                    float batch)
{
    double loss = 0.0;

    for (int n = 0; n < rows; n++) {
        const float *z = net->act[LAYERS] + n * CLASSES;
        float *d = net->delta[LAYERS] + n * CLASSES;
        float max = z[0], sum = 0.0f;

        for (int j = 1; j < CLASSES; j++)
            max = fmaxf(max, z[j]);
        for (int j = 0; j < CLASSES; j++) {
            d[j] = expf(z[j] - max);
            sum += d[j];
        }
        for (int j = 0; j < CLASSES; j++)
            d[j] = (d[j] / sum - (j == label[n] ? 1.0f : 0.0f)) / batch;
        loss += log((double)sum) - (double)(z[label[n]] - max);
    }
    return loss;
}

/* Computes gradients of layer l's weights and biases, from its inputs and deltas. */
static void layer_gradient(struct network *net, int l, int rows)
{
    const int in = net->width[l], out = net->width[l + 1];
    float *gw = net->grad + net->start[2 * l];
    float *restrict gb = net->grad + net->start[2 * l + 1];

    memset(gw, 0, (size_t)(in * out + out) * sizeof *gw);
    for (int n = 0; n < rows; n++) {
        const float *x = net->act[l] + (size_t)n * (size_t)in;
        const float *d = net->delta[l + 1] + (size_t)n * (size_t)out;

        for (int j = 0; j < out; j++)
            gb[j] += d[j];
        for (int i = 0; i < in; i++) {
            float *restrict gi = gw + i * out;

            for (int j = 0; j < out; j++)
                gi[j] += x[i] * d[j];
        }
    }
}

/* Computes deltas of layer l's inputs, through its weights and the ReLU before it. */
static void layer_delta(struct network *net, int l, int rows)
{
    const int in = net->width[l], out = net->width[l + 1];
    const float *w = net->param + net->start[2 * l];

    for (int n = 0; n < rows; n++) {
        const float *x = net->act[l] + (size_t)n * (size_t)in;
        const float *d = net->delta[l + 1] + (size_t)n * (size_t)out;
        float *below = net->delta[l] + (size_t)n * (size_t)in;

        for (int i = 0; i < in; i++) {
            float sum = 0.0f;

            for (int j = 0; j < out; j++)
                sum += w[i * out + j] * d[j];
            below[i] = x[i] <= 0.0f ? 0.0f : sum;
        }
    }
}

/* COLLECTIVE over MPI_COMM_WORLD. Sums gradients begin to end over the
 * ranks. */
static void reduce_gradients(struct network *net, int begin, int end)
{
    float *grad = net->grad + begin;

#ifdef WITH_DEVICE
    grad = net->device_grad + begin;
    device_put(grad, net->grad + begin, (size_t)(end - begin) * sizeof *grad);
#endif
    MPI_Allreduce(MPI_IN_PLACE, grad, end - begin, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
#ifdef WITH_DEVICE
    device_get(net->grad + begin, grad, (size_t)(end - begin) * sizeof *grad);
#endif
}

/* COLLECTIVE over MPI_COMM_WORLD. Sums tensor t's gradient over the ranks. */
static void reduce_tensor(struct network *net, int t)
{
    reduce_gradients(net, net->start[t], net->start[t + 1]);
}

#ifdef WITH_DEVICE
void network_hand_out(struct network *net)
{
    const size_t bytes = (size_t)net->start[TENSORS] * sizeof *net->param;

    if (rank != 0)
        memset(net->param, 0, bytes);
    device_put(net->device_param, net->param, bytes);
    MPI_Bcast(net->device_param, net->start[TENSORS], MPI_FLOAT, 0,
              MPI_COMM_WORLD);
    device_get(net->param, net->device_param, bytes);
}
#endif

void network_backward(struct network *net, int rows, const struct options *opt)
{
    for (int l = LAYERS - 1; l >= 0; l--) {
        layer_gradient(net, l, rows);
        if (opt->backward) {
            reduce_tensor(net, 2 * l);
            reduce_tensor(net, 2 * l + 1);
        }
        if (l > 0)
            layer_delta(net, l, rows);
    }
    if (opt->fused)
        reduce_gradients(net, 0, net->start[TENSORS]);
    else if (!opt->backward)
        for (int t = 0; t < TENSORS; t++)
            reduce_tensor(net, t);
}

void network_update(struct network *net, const struct options *opt, float lr)
{
    for (int i = 0; i < net->start[TENSORS]; i++) {
        net->velocity[i] = opt->momentum * net->velocity[i] + net->grad[i];
        net->param[i] -= lr * net->velocity[i];
    }
}

uint64_t network_hash(const struct network *net)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (int i = 0; i < net->start[TENSORS]; i++) {
        uint32_t bits;

        memcpy(&bits, &net->param[i], sizeof bits);
        for (int shift = 0; shift < 32; shift += 8) {
            hash ^= (bits >> shift) & 0xff;
            hash *= UINT64_C(0x100000001b3);
        }
    }
    return hash;
}
