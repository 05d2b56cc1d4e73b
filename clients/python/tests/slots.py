"""What a test sees of the slots behind a Loader's arrays."""

from forebay.gpu import GpuArray


def picture(images):
    """Pixels of an array, wherever they stand."""
    return images.numpy() if isinstance(images, GpuArray) else images


def held(loader):
    """Slots that something still looks at."""
    return loader._feed.session.viewed()


def start_of(images):
    """Where an array's memory begins."""
    interface = "__cuda_array_interface__" if isinstance(images, GpuArray) else "__array_interface__"
    return getattr(images, interface)["data"][0]
