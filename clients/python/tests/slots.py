"""What tests can see of the slots of a Loader's arrays."""

from forebay.gpu import GpuArray


def picture(images):
    """Pixels of an array in the host, wherever the array is."""
    return images.numpy() if isinstance(images, GpuArray) else images


def held(loader):
    """Number of slots that are still in use."""
    return loader._feed.session.viewed()


def start_of(images):
    """Address of an array's first byte."""
    interface = "__cuda_array_interface__" if isinstance(images, GpuArray) else "__array_interface__"
    return getattr(images, interface)["data"][0]
