/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network: three fully connected layers, ReLU between them, softmax cross
 * entropy; its gradients, which the ranks sum, and its weights.
 */
#ifndef DIGITS_NETWORK_H
#define DIGITS_NETWORK_H

#include <stdint.h>

#include "digits_options.h"

enum {
    LAYERS = 3,
    TENSORS = 2 * LAYERS, /* W1, b1, W2, b2, W3, b3 */
};

/*
 * Tensors follow each other in param, grad and velocity, in forward order.
 * Weights are [in][out], so that inner loops run along memory.
 */
struct network {
    int width[LAYERS + 1];
    int start[TENSORS + 1];
    float *param;
    float *grad;
    float *velocity;
    float *act[LAYERS + 1];   /* [rows][width], act[LAYERS] are the logits */
    float *delta[LAYERS + 1]; /* d(loss)/d(act before ReLU) */
#ifdef WITH_DEVICE
    float *device_param; /* device copies, of the same size */
    float *device_grad;
#endif
};

/* `rows`: the most images of one pass. Returns 0, or -1 without memory. */
int network_create(int hidden, int rows, uint64_t *random, struct network *net);
void network_destroy(struct network *net);

/* Computes the logits in act[LAYERS] from act[0]. */
void network_forward(struct network *net, int rows);

/*
 * Turns the logits into d(loss)/d(logits), where the loss is the mean over
 * batch images. Returns the sum of the losses of these rows.
 */
double network_loss(struct network *net, int rows, const unsigned char *label,
                    float batch);

/* COLLECTIVE over MPI_COMM_WORLD. Leaves the mean gradient of the batch. */
void network_backward(struct network *net, int rows, const struct options *opt);

/* Makes one step of gradient descent with momentum. */
void network_update(struct network *net, const struct options *opt, float lr);

/* FNV-1a over the bits of the parameters, low byte of each first. */
uint64_t network_hash(const struct network *net);

#ifdef WITH_DEVICE
/* COLLECTIVE over MPI_COMM_WORLD. Broadcasts rank 0's weights. */
void network_hand_out(struct network *net);
#endif

#endif
