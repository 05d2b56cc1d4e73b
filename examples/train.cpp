// A training loop in C++17: a classifier by the nearest mean colour, on the batches of a stream.
//
//     c++ -std=c++17 -o train examples/train.cpp $(pkg-config --cflags --libs forebay)
//     ./train STREAM EPOCHS [SOCKET]
//
// The stream must have pictures of uint8 in NHWC with labels. A batch is released when its `Batch` goes out of scope.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <forebay.h>

namespace {

// Throws what the last call of this thread says if it has failed.
forebay_status checked(forebay_status status) {
  if (status < 0)
    throw std::runtime_error(forebay_error());
  return status;
}

// Values of a column, which are valid as long as their batch.
template <class T> struct Column {
  const T *data;
  std::array<std::size_t, 4> shape;
};

struct Release {
  void operator()(forebay_batch *batch) const { forebay_release(batch); }
};

struct Close {
  void operator()(forebay_session *session) const { forebay_close(session); }
};

class Batch {
public:
  explicit Batch(forebay_batch *batch) : batch_(batch) {}

  template <class T> Column<T> column(const char *name, forebay_type type) const {
    forebay_view view;
    checked(forebay_batch_view(batch_.get(), name, &view));
    if (view.value_type != type || view.dims > 4)
      throw std::runtime_error(std::string("the stream has another type of ") + name);
    Column<T> column{static_cast<const T *>(view.data), {1, 1, 1, 1}};
    for (std::size_t axis = 0; axis < view.dims; axis++)
      column.shape[axis] = static_cast<std::size_t>(view.shape[axis]);
    return column;
  }

private:
  std::unique_ptr<forebay_batch, Release> batch_;
};

class Session {
public:
  explicit Session(const forebay_options &options) {
    forebay_session *session = nullptr;
    checked(forebay_attach(&options, &session));
    session_.reset(session);
  }

  std::size_t classes() const {
    forebay_stream_facts facts;
    checked(forebay_stream_info(session_.get(), &facts));
    return static_cast<std::size_t>(facts.classes);
  }

  // Nothing at the end of an epoch, and of the stream.
  std::optional<Batch> next() {
    forebay_batch *batch = nullptr;
    if (checked(forebay_next(session_.get(), -1, &batch)) != FOREBAY_STATUS_OK)
      return std::nullopt;
    return Batch(batch);
  }

private:
  std::unique_ptr<forebay_session, Close> session_;
};

// The mean colour of each class, learnt picture by picture.
class NearestMean {
public:
  using Colour = std::array<double, 3>;

  explicit NearestMean(std::size_t classes) : means_(classes), seen_(classes) {}

  // Whether the class of the nearest mean was right, before the picture is learnt.
  bool learn(const Colour &colour, std::size_t label) {
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t other = 0; other < means_.size(); other++) {
      const double distance = distance_of(means_[other], colour);
      if (seen_[other] > 0 && distance < least) {
        least = distance;
        nearest = other;
      }
    }
    const bool right = seen_.at(label) > 0 && nearest == label;
    seen_[label] += 1;
    for (std::size_t channel = 0; channel < 3; channel++)
      means_[label][channel] += (colour[channel] - means_[label][channel]) / seen_[label];
    return right;
  }

private:
  static double distance_of(const Colour &one, const Colour &other) {
    double sum = 0;
    for (std::size_t channel = 0; channel < 3; channel++)
      sum += (one[channel] - other[channel]) * (one[channel] - other[channel]);
    return sum;
  }

  std::vector<Colour> means_;
  std::vector<double> seen_;
};

NearestMean::Colour mean_colour(const Column<std::uint8_t> &images, std::size_t place) {
  const std::size_t pixels = images.shape[1] * images.shape[2];
  const std::uint8_t *picture = images.data + place * pixels * 3;
  NearestMean::Colour colour{};
  for (std::size_t value = 0; value < pixels * 3; value++)
    colour[value % 3] += picture[value];
  for (double &channel : colour)
    channel /= static_cast<double>(pixels);
  return colour;
}

void train(Session &session, long epochs) {
  NearestMean model(session.classes());
  for (long epoch = 0; epoch < epochs; epoch++) {
    std::size_t records = 0, right = 0;
    while (const std::optional<Batch> batch = session.next()) {
      const auto images = batch->column<std::uint8_t>("images", FOREBAY_TYPE_U8);
      const auto labels = batch->column<std::int64_t>("labels", FOREBAY_TYPE_I64);
      const auto mask = batch->column<std::uint8_t>("mask", FOREBAY_TYPE_BOOL);
      if (images.shape[3] != 3)
        throw std::runtime_error("the stream has no pictures in NHWC");
      for (std::size_t place = 0; place < images.shape[0]; place++) {
        // Places whose mask is 0 repeat a record, or replace one.
        if (mask.data[place] == 0 || labels.data[place] < 0)
          continue;
        right += model.learn(mean_colour(images, place), static_cast<std::size_t>(labels.data[place]));
        records += 1;
      }
    }
    std::cout << "epoch " << epoch << ": " << right << " right of " << records << " records\n";
  }
}

} // namespace

int main(int count, char **words) {
  if (count < 3) {
    std::cerr << "usage: train STREAM EPOCHS [SOCKET]\n";
    return 2;
  }
  forebay_options options{};
  options.stream = words[1];
  options.socket = count > 3 ? words[3] : nullptr;
  try {
    Session session(options);
    train(session, std::strtol(words[2], nullptr, 10));
  } catch (const std::exception &error) {
    std::cerr << "train: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
