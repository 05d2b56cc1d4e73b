"""tf.data with TensorFlow's image operations, as the TPU ResNet input pipeline has them."""

from __future__ import annotations

import os
from collections.abc import Iterator

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import stopwatch
import tensorflow as tf


def train(path: tf.Tensor) -> tf.Tensor:
    """A random part, decoded alone, resized and mirrored half the time."""
    data = tf.io.read_file(path)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.image.extract_jpeg_shape(data),
        bounding_boxes=tf.zeros([0, 0, 4]),
        min_object_covered=0.0,
        aspect_ratio_range=stopwatch.RATIO,
        area_range=stopwatch.AREA,
        max_attempts=10,
        use_image_if_no_bounding_boxes=True,
    )
    part = tf.concat([begin[:2], size[:2]], axis=0)
    picture = tf.image.decode_and_crop_jpeg(data, part, channels=3)
    picture = tf.image.resize(picture, [stopwatch.SIZE] * 2, antialias=True)
    return tf.cast(tf.image.random_flip_left_right(picture), tf.uint8)


def evaluation(path: tf.Tensor) -> tf.Tensor:
    """The whole picture resized, then its middle."""
    picture = tf.image.decode_jpeg(tf.io.read_file(path), channels=3)
    shape = tf.cast(tf.shape(picture)[:2], tf.float32)
    size = tf.cast(shape * stopwatch.SHORTER / tf.reduce_min(shape), tf.int32)
    picture = tf.image.resize(picture, size, antialias=True)
    return tf.cast(tf.image.resize_with_crop_or_pad(picture, stopwatch.SIZE, stopwatch.SIZE), tf.uint8)


def batches(job: stopwatch.Job) -> Iterator[np.ndarray]:
    """Tensors as numpy arrays, without a copy."""
    files = tf.data.Dataset.from_tensor_slices(job.files)
    if job.task == "train":
        files = files.shuffle(len(job.files))
    options = tf.data.Options()
    options.threading.private_threadpool_size = job.threads
    work = {"train": train, "eval": evaluation}[job.task]
    made = files.repeat().map(work, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)
    for batch in made.batch(job.batch).prefetch(tf.data.AUTOTUNE).with_options(options):
        yield batch.numpy()


stopwatch.run(batches)
