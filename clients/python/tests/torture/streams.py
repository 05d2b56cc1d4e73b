"""The streams of the torture test's daemon: their pictures and their configuration."""

from torture.payload import write_picture, write_pictures

CONFIG = """\
drain_timeout = "1s"
[control]
dir = "{sockets}"
[coordinator]
path = "{disk}"
[streams.alone]
source = "{source}"
on_error = "skip"
batch_size = 4
transform = [{{ center_crop = {{ size = 8 }} }}]
shuffle = true
trainers = 1
[streams.shared]
source = "{source}"
on_error = "skip"
batch_size = 4
transform = [{{ center_crop = {{ size = 8 }} }}]
shuffle = true
trainers = {trainers}
[streams.filled]
source = "{source}"
on_error = "skip"
batch_size = 7
transform = [{{ center_crop = {{ size = 8 }} }}]
last_batch_policy = "fill"
prefetch_queue_depth = 1
trainers = {trainers}
[streams.ranks]
source = "{good}"
batch_size = 4
transform = [{{ center_crop = {{ size = 8 }} }}]
shuffle = true
trainers = 2
[streams.each]
source = "{good}"
batch_size = 4
transform = [{{ center_crop = {{ size = 8 }} }}]
shuffle = true
trainers = {trainers}
groups = "each"
slow = "evict"
evict_after = "5s"
"""


def configure(folder, sockets, state, records, trainers):
    """Writes the pictures of so many good records, and the configuration, which it returns."""
    source = write_pictures(folder / "pictures", records)
    write_picture(source, records, length=10)
    # The batches of `each` are counted, and a bad record that is alone makes none.
    good = write_pictures(folder / "pictures-good", records)
    config = folder / "forebay.toml"
    config.write_text(CONFIG.format(sockets=sockets, disk=state, source=source, good=good, trainers=trainers))
    return config
