/* A training loop in C: softmax regression on the batches of a stream.
 *
 *     cc -std=c99 -o train examples/train.c $(pkg-config --cflags --libs forebay) -lm
 *     ./train STREAM EPOCHS [SOCKET]
 *
 * The stream must have pictures of uint8 in NHWC with labels, such as `forebay serve pictures --size 64 --batch-size 32`.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <forebay.h>

/* Pictures become squares of this many pixels before they are learnt from. */
#define SIDE 8
#define FEATURES (SIDE * SIDE * 3)
#define RATE 0.02

/* Weights of one linear layer: a row of FEATURES and a bias for each class. */
struct model {
  size_t classes;
  double *weights;
  double *scores;
};

static void fail(const char *what) {
  fprintf(stderr, "train: %s: %s\n", what, forebay_error());
  exit(1);
}

/* Means of the blocks of a picture, centred. */
static void make_features(const unsigned char *picture, size_t height, size_t width, double *features) {
  size_t rows = height / SIDE, columns = width / SIDE;
  memset(features, 0, FEATURES * sizeof *features);
  for (size_t y = 0; y < rows * SIDE; y++)
    for (size_t x = 0; x < columns * SIDE; x++)
      for (size_t channel = 0; channel < 3; channel++)
        features[(y / rows * SIDE + x / columns) * 3 + channel] += picture[(y * width + x) * 3 + channel];
  for (size_t i = 0; i < FEATURES; i++)
    features[i] = features[i] / (double)(rows * columns) / 64 - 2;
}

/* Learns from one picture and returns its loss before that. */
static double learn(struct model *model, const double *features, size_t label, size_t batch) {
  double most = -INFINITY, sum = 0;
  for (size_t class = 0; class < model->classes; class++) {
    const double *row = model->weights + class * (FEATURES + 1);
    double score = row[FEATURES];
    for (size_t i = 0; i < FEATURES; i++)
      score += row[i] * features[i];
    model->scores[class] = score;
    most = score > most ? score : most;
  }
  for (size_t class = 0; class < model->classes; class++)
    sum += model->scores[class] = exp(model->scores[class] - most);
  for (size_t class = 0; class < model->classes; class++) {
    double *row = model->weights + class * (FEATURES + 1);
    double step = RATE * (model->scores[class] / sum - (class == label)) / (double)batch;
    for (size_t i = 0; i < FEATURES; i++)
      row[i] -= step * features[i];
    row[FEATURES] -= step;
  }
  return -log(model->scores[label] / sum + 1e-12);
}

/* Learns from a batch and returns the sum of its losses. */
static double learn_batch(struct model *model, forebay_batch *batch) {
  forebay_view images, labels, mask;
  if (forebay_batch_view(batch, "images", &images) || forebay_batch_view(batch, "labels", &labels) ||
      forebay_batch_view(batch, "mask", &mask))
    fail("view");
  size_t places = (size_t)images.shape[0], height = (size_t)images.shape[1], width = (size_t)images.shape[2];
  if (images.value_type != FOREBAY_TYPE_U8 || images.shape[3] != 3 || height < SIDE || width < SIDE) {
    fprintf(stderr, "train: the stream has no pictures of uint8 in NHWC with %d pixels a side\n", SIDE);
    exit(1);
  }
  double features[FEATURES], loss = 0;
  for (size_t place = 0; place < places; place++) {
    long long label = ((const int64_t *)labels.data)[place];
    /* Places whose mask is 0 repeat a record, or replace one. */
    if (!((const unsigned char *)mask.data)[place] || label < 0 || (size_t)label >= model->classes)
      continue;
    make_features((const unsigned char *)images.data + place * height * width * 3, height, width, features);
    loss += learn(model, features, (size_t)label, places);
  }
  return loss;
}

int main(int count, char **words) {
  if (count < 3) {
    fprintf(stderr, "usage: train STREAM EPOCHS [SOCKET]\n");
    return 2;
  }
  forebay_options options = {0};
  options.stream = words[1];
  options.socket = count > 3 ? words[3] : NULL;
  forebay_session *session;
  forebay_stream_facts facts;
  if (forebay_attach(&options, &session) || forebay_stream_info(session, &facts))
    fail("attach");

  struct model model = {(size_t)facts.classes, NULL, NULL};
  model.weights = calloc(model.classes * (FEATURES + 1) + 1, sizeof *model.weights);
  model.scores = calloc(model.classes + 1, sizeof *model.scores);
  if (!model.weights || !model.scores) {
    fprintf(stderr, "train: out of memory\n");
    return 1;
  }

  for (long epoch = 0; epoch < strtol(words[2], NULL, 10); epoch++) {
    double loss = 0;
    unsigned long long records = 0, batches = 0;
    forebay_batch *batch;
    forebay_status status;
    while ((status = forebay_next(session, -1, &batch)) == FOREBAY_STATUS_OK) {
      forebay_batch_facts of;
      if (forebay_batch_info(batch, &of))
        fail("batch");
      loss += learn_batch(&model, batch);
      records += of.valid;
      batches++;
      if (forebay_release(batch))
        fail("release");
    }
    if (status < 0)
      fail("next");
    if (status == FOREBAY_STATUS_DONE)
      break;
    printf("epoch %ld: loss %.4f over %llu records in %llu batches\n", epoch, loss / (double)(records + !records), records,
           batches);
  }
  free(model.weights);
  free(model.scores);
  if (forebay_close(session))
    fail("close");
  return 0;
}
