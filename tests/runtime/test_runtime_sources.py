"""Samples by index: from text, tokens, the standard library and thin air, and what is said about bad ones."""

import time

import numpy as np
import pytest

from meshc import runtime
from meshc.runtime.data import files
from meshc.runtime.data.sources import Wanted

TEXT = {"tokens": Wanted((16,), "int32", 256)}


def errors(source, inputs=TEXT, index=0):
    with pytest.raises(runtime.UserError) as raised:
        source.open(inputs, 0)(index)
    return str(raised.value)


def corpus(folder, **files):
    for name, content in files.items():
        (folder / f"{name}.txt").write_bytes(content)
    return runtime.Text([str(folder / "*.txt")])


def test_bytes_are_ids_with_a_zero_after_each_file(tmp_path):
    samples = corpus(tmp_path, b=b"efgh" * 4, a=b"abcdefghijklmno").open(TEXT, 0)
    rows = {samples(i)["tokens"].tobytes() for i in range(2)}  # one epoch: 16 + 17 ids are two windows, and one id left
    expected = [b"abcdefghijklmno\0", b"efgh" * 4]
    assert rows == {np.frombuffer(text, np.uint8).astype(np.int64).tobytes() for text in expected}


def test_a_sample_depends_on_seed_and_index_alone(tmp_path):
    source = corpus(tmp_path, a=bytes(range(32, 127)) * 20)
    one, again, other = (source.open(TEXT, seed) for seed in (1, 1, 2))
    assert all((one(i)["tokens"] == again(i)["tokens"]).all() for i in (5, 0, 200, 5, 118))
    assert any((one(i)["tokens"] != other(i)["tokens"]).any() for i in range(8))


def test_each_epoch_is_another_permutation_of_the_same_samples(tmp_path):
    samples = corpus(tmp_path, a=bytes(range(1, 161))).open(TEXT, 0)  # 161 ids with the end: 10 windows
    epochs = [[int(samples(i)["tokens"][0]) for i in range(start, start + 10)] for start in (0, 10, 20)]
    assert [sorted(epoch) for epoch in epochs] == [[1 + 16 * i for i in range(10)]] * 3
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]


def test_the_standard_library_is_enough_text_at_once():
    began = time.perf_counter()
    documents = files.standard_library()
    assert 5_000_000 <= sum(len(content) for _, content in documents) <= 32 << 20
    assert not any("site-packages" in name for name, _ in documents)
    assert [name for name, _ in documents] == sorted(name for name, _ in documents)
    sample = runtime.PythonStdlib().open({"tokens": Wanted((256,), "int32", 256)}, 0)(0)
    assert sample["tokens"].shape == (256,)
    assert time.perf_counter() - began < 10  # a second on an idle machine


@pytest.mark.parametrize("name", ["ids.npy", "ids.bin"])
def test_token_files_are_read_across_their_ends(tmp_path, name):
    for part, ids in enumerate(np.split(np.arange(48, dtype=np.uint16), [13])):
        path = tmp_path / f"{part}{name}"
        np.save(path, ids) if name.endswith("npy") else ids.tofile(path)
    samples = runtime.Tokens([str(tmp_path / f"*{name}")]).open(TEXT, 0)
    rows = sorted(samples(i)["tokens"].tolist() for i in range(3))
    assert np.concatenate(rows).tolist() == list(range(48))


def test_a_tokenizer_file_is_used(tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {"<unk>": 0, "to": 1, "be": 2, "</s>": 3}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "t.json"))
    corpus(tmp_path, a=b"to be " * 7 + b"to")
    samples = runtime.Text([str(tmp_path / "a.txt")], str(tmp_path / "t.json")).open(TEXT, 0)
    assert samples(0)["tokens"].tolist() == [1, 2] * 7 + [1, 3]


def test_synthetic_feeds_every_input_below_its_end():
    inputs = {"tokens": Wanted((64,), "int32", 5), "image": Wanted((8, 8), "float32", None)}
    samples = runtime.Synthetic().open(inputs, 0)
    sample, again = samples(7), runtime.Synthetic().open(inputs, 0)(7)
    assert set(sample["tokens"].tolist()) == {0, 1, 2, 3, 4}
    assert sample["image"].shape == (8, 8) and 0.5 < sample["image"].std() < 2
    assert all((sample[name] == again[name]).all() for name in inputs)
    assert (samples(8)["image"] != sample["image"]).all()


def test_bad_files_are_named(tmp_path):
    assert "no file matches `" in errors(runtime.Text([str(tmp_path / "*.txt")]))
    assert "one sample of `tokens` takes 16" in errors(corpus(tmp_path, a=b"short"))
    assert "not a tokenizer.json" in errors(runtime.Text([str(tmp_path / "a.txt")], str(tmp_path / "a.txt")))
    assert "no tokenizer `nowhere.json`" in errors(runtime.Text([str(tmp_path / "a.txt")], "nowhere.json"))
    (tmp_path / "odd.bin").write_bytes(b"123")
    assert "not a multiple of 2" in errors(runtime.Tokens([str(tmp_path / "odd.bin")]))
    (tmp_path / "no.npy").write_bytes(b"123")
    assert "cannot read tokens from" in errors(runtime.Tokens([str(tmp_path / "no.npy")]))
    np.save(tmp_path / "floats.npy", np.ones(100))
    assert "holds float64, not integers" in errors(runtime.Tokens([str(tmp_path / "floats.npy")]))
    (tmp_path / "none.bin").write_bytes(b"")
    assert "has 0 tokens" in errors(runtime.Tokens([str(tmp_path / "none.bin")]))


def test_ids_beyond_the_vocabulary_are_named_with_file_and_place(tmp_path):
    small = {"tokens": Wanted((16,), "int32", 128)}
    message = errors(corpus(tmp_path, a=b"x" * 50, b=b"caf\xc3\xa9" * 10), small)
    assert f"`{tmp_path}/b.txt` holds id 195 at token 3; `tokens` takes 0 to 127" in message


def test_ids_of_a_long_stream_are_checked_as_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("meshc.runtime.data.stream.CHECKED_AT_START", 0)
    np.save(tmp_path / "ids.npy", np.full(64, 300))
    assert "holds id 300 at token" in errors(runtime.Tokens([str(tmp_path / "ids.npy")]))


def test_a_stream_of_tokens_feeds_one_sequence_of_ids_only(tmp_path):
    source = corpus(tmp_path, a=b"x" * 100)
    two = TEXT | {"labels": Wanted((16,), "int32", 256)}
    assert "the model has 2 inputs (`tokens`, `labels`), and text yields one" in errors(source, two)
    picture = {"x": Wanted((16, 64), "float32", None)}
    assert "one sample of `x` is [16, 64] of float32, and text yields [tokens] of ids" in errors(source, picture)


def test_text_that_is_not_utf8_is_an_error_where_it_must_be(tmp_path):
    (tmp_path / "t.json").write_text('{"version":"1.0","model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"}}')
    corpus(tmp_path, a=b"ok\xff" * 10)
    message = errors(runtime.Text([str(tmp_path / "a.txt")], str(tmp_path / "t.json")))
    assert "is not UTF-8: byte 0xff at 2" in message


PACKED = {**TEXT, "of": Wanted((16,), "int32", 16, segments=True)}


def packed(source) -> dict[bytes, list[int]]:
    """Documents of the samples of an epoch, by their tokens."""
    samples = source.open(PACKED, 0)
    return {samples(i)["tokens"].astype(np.uint8).tobytes(): samples(i)["of"].tolist() for i in range(2)}


def test_each_file_is_a_document_for_a_model_that_takes_segments(tmp_path):
    found = packed(corpus(tmp_path, a=b"abcdefghi", b=b"j", c=b"", d=b"klmnopqrstuvwxyz01"))
    assert found == {
        b"abcdefghi\0j\0\0klm": [0] * 10 + [1] * 2 + [2] + [3] * 3,
        b"nopqrstuvwxyz01\0": [0] * 16,
    }


def test_a_separator_ends_a_document_in_files_of_tokens(tmp_path):
    np.save(tmp_path / "ids.npy", np.array([5, 1, 6, 7, 1, 1, 8, 9] * 4))
    (found,) = set(map(tuple, packed(runtime.Tokens([str(tmp_path / "ids.npy")], separator=1)).values()))
    assert found == (0, 0, 1, 1, 1, 2, 3, 3, 3, 3, 4, 4, 4, 5, 6, 6)
