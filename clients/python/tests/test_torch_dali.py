"""`forebay.dali` where PyTorch is installed. Skipped if it is not."""

import forebay
import numpy as np
import pytest
from forebay.dali import DALIClassificationIterator, DALIGenericIterator, FileReader, Pipeline

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


@pytest.fixture
def pipeline(pictures):
    """Makes pipelines of a few pictures."""

    def make(records=6, batch_size=4, **settings):
        reader = FileReader(files=sorted(pictures(records).iterdir()), name="Reader")
        return Pipeline(reader, batch_size, transform=forebay.transforms.Resize((8, 8)), **settings)

    return make


def test_batches_are_tensors_with_dalis_types_and_memory_of_their_own(pipeline):
    iterator = DALIClassificationIterator(pipeline(), reader_name="Reader", last_batch_policy="PARTIAL")
    batches = [outputs[0] for outputs in iterator]
    iterator.close()
    assert [(batch["data"].dtype, batch["label"].dtype) for batch in batches] == [(torch.uint8, torch.int32)] * 2
    assert [tuple(batch["data"].shape) for batch in batches] == [(4, 8, 8, 3), (2, 8, 8, 3)]
    assert [batch["label"].squeeze(-1).long().tolist() for batch in batches] == [[0, 1, 2, 3], [4, 5]]
    assert batches[0]["data"][:, 0, 0, 0].tolist() == [0, 1, 2, 3]
    batches[0]["data"].zero_()


@pytest.mark.parametrize(("dtype", "theirs"), [("float32", torch.float32), ("bfloat16", torch.bfloat16)])
def test_images_have_the_type_and_layout_of_the_pipeline(pipeline, dtype, theirs):
    iterator = DALIGenericIterator(pipeline(dtype=dtype, layout="NCHW"), ["images", "labels"], reader_name="Reader")
    images = next(iterator)[0]["images"]
    iterator.close()
    assert (images.dtype, tuple(images.shape)) == (theirs, (4, 3, 8, 8))
    torch.testing.assert_close(images[:, 0, 0, 0].float(), torch.arange(4) / 255, rtol=0, atol=1e-3)


def test_arrays_are_given_on_request(pipeline):
    iterator = DALIClassificationIterator(pipeline(), reader_name="Reader", as_numpy=True)
    batch = next(iterator)[0]
    iterator.close()
    assert isinstance(batch["data"], np.ndarray)
    assert (batch["label"].dtype, batch["label"].tolist()) == (np.int32, [[0], [1], [2], [3]])


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_refused(pipeline):
    with pytest.raises(forebay.SettingsError, match="PyTorch sees 0 GPUs"):
        DALIClassificationIterator(pipeline(device_id=0), reader_name="Reader")
    with pytest.raises(forebay.SettingsError, match="numpy's arrays are in the host"):
        DALIClassificationIterator(pipeline(device_id=0), reader_name="Reader", as_numpy=True)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_batches_are_copied_to_the_gpu(pipeline):
    iterator = DALIClassificationIterator(pipeline(40, device_id=0), reader_name="Reader")
    batches = [outputs[0] for outputs in iterator]
    iterator.close()
    assert {tensor.device for batch in batches for tensor in batch.values()} == {torch.device("cuda:0")}
    for key in ("data", "label"):
        tensors = torch.cat([batch[key].reshape(4, -1)[:, 0] for batch in batches])
        assert tensors.tolist() == list(range(40))
