// A training loop in C++ with libtorch: softmax regression on the batches of a stream.
//
//     FLAGS="-isystem $TORCH/include -isystem $TORCH/include/torch/csrc/api/include -L$TORCH/lib -Wl,-rpath,$TORCH/lib -Wl,--no-as-needed -ltorch -ltorch_cpu -lc10"
//     c++ -std=c++20 -o train_torch examples/train_torch.cpp $(pkg-config --cflags --libs forebay) $FLAGS
//     ./train_torch STREAM EPOCHS [SOCKET]
//
// TORCH is the folder of libtorch, or that of the Python package `torch`, which has it. The stream must have pictures of
// uint8 with labels. Tensors are the ring's own memory: a batch is released when the last of its tensors is gone.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <torch/torch.h>

#include <forebay.h>

namespace {

forebay_status checked(forebay_status status) {
  if (status < 0)
    throw std::runtime_error(forebay_error());
  return status;
}

// A column as a tensor that keeps the batch. The memory is read-only: an operation in place on the tensor is a SIGSEGV.
torch::Tensor tensor_of(const std::shared_ptr<forebay_batch> &batch, const char *name, forebay_type wanted,
                        torch::ScalarType type) {
  forebay_view view;
  checked(forebay_batch_view(batch.get(), name, &view));
  if (view.value_type != wanted)
    throw std::runtime_error(std::string("the stream has another type of ") + name);
  const std::vector<int64_t> shape(view.shape, view.shape + view.dims);
  const auto keep = [batch](void *) {};
  return torch::from_blob(const_cast<void *>(view.data), shape, keep, type);
}

// A linear layer and a softmax, made for the first batch that is seen.
class Model {
public:
  explicit Model(int64_t classes) : classes_(classes) {}

  // Learns from a batch, and gives the sum of its losses before that.
  double learn(const torch::Tensor &images, const torch::Tensor &labels, const torch::Tensor &weights) {
    const auto pixels = images.flatten(1).to(torch::kFloat32) / 255;
    if (!optimizer_) {
      layer_ = torch::nn::Linear(pixels.size(1), classes_);
      optimizer_ = std::make_unique<torch::optim::SGD>(layer_->parameters(), 0.01);
    }
    const auto options = torch::nn::functional::CrossEntropyFuncOptions().ignore_index(-1).reduction(torch::kNone);
    const auto loss = (torch::nn::functional::cross_entropy(layer_(pixels), labels, options) * weights).sum();
    optimizer_->zero_grad();
    (loss / weights.sum().clamp_min(1)).backward();
    optimizer_->step();
    return loss.item<double>();
  }

private:
  int64_t classes_;
  torch::nn::Linear layer_{nullptr};
  std::unique_ptr<torch::optim::SGD> optimizer_;
};

void train(const forebay_options &options, long epochs) {
  forebay_session *opened = nullptr;
  checked(forebay_attach(&options, &opened));
  const std::unique_ptr<forebay_session, forebay_status (*)(forebay_session *)> session(opened, forebay_close);
  forebay_stream_facts facts;
  checked(forebay_stream_info(opened, &facts));
  torch::manual_seed(0);
  Model model(static_cast<int64_t>(facts.classes));
  for (long epoch = 0; epoch < epochs; epoch++) {
    double sum = 0, records = 0;
    forebay_batch *next = nullptr;
    while (checked(forebay_next(opened, -1, &next)) == FOREBAY_STATUS_OK) {
      const std::shared_ptr<forebay_batch> batch(next, forebay_release);
      const auto images = tensor_of(batch, "images", FOREBAY_TYPE_U8, torch::kUInt8);
      const auto labels = tensor_of(batch, "labels", FOREBAY_TYPE_I64, torch::kInt64);
      // Places whose mask is 0 repeat or replace a record, or are black. Black places have label -1.
      const auto mask = tensor_of(batch, "mask", FOREBAY_TYPE_BOOL, torch::kBool).to(torch::kFloat32);
      sum += model.learn(images, labels, mask);
      records += mask.sum().item<double>();
    }
    std::cout << "epoch " << epoch << ": loss " << sum / std::max(records, 1.0) << " over " << records << " records\n";
  }
}

} // namespace

int main(int count, char **words) {
  if (count < 3) {
    std::cerr << "usage: train_torch STREAM EPOCHS [SOCKET]\n";
    return 2;
  }
  forebay_options options{};
  options.stream = words[1];
  options.socket = count > 3 ? words[3] : nullptr;
  try {
    train(options, std::strtol(words[2], nullptr, 10));
  } catch (const std::exception &error) {
    std::cerr << "train_torch: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
