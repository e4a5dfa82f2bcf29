"""The calls that docs/coming_from.md shows for libraries of biology give the same results."""

from __future__ import annotations

import numpy as np
import pytest

from onehot_fast import decode_sequences, one_hot_sequences, tokenize_sequences

TEXT = "ACGTTGCANNGATTACA" * 5
TEXTS = ["ACGTN", "GATTA", "NNNNN"]


def enformer_one_hot(text, neutral_value=0, dtype=np.float32):
    """Encode as the function that was published with Enformer: a table of all bytes."""
    table = np.zeros((256, 4), dtype)
    table[np.frombuffer(b"ACGT", np.uint8)] = np.eye(4)
    table[ord("N")] = neutral_value
    return table[np.frombuffer(text.encode(), np.uint8)]


def assert_same(actual, expected):
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("neutral_value", [0, 0.25])
def test_enformer(neutral_value):
    text = TEXT + "acgtRY"
    ours = one_hot_sequences(text, neutral="N", neutral_value=neutral_value, unknown="zeros")
    assert_same(ours, enformer_one_hot(text, neutral_value))


def test_seqpro():
    seqpro = pytest.importorskip("seqpro")
    theirs = seqpro.ohe(np.array(TEXTS), seqpro.DNA)
    assert_same(one_hot_sequences(TEXTS, unknown="zeros", dtype="uint8"), theirs)
    letters = seqpro.decode_ohe(theirs, ohe_axis=-1, alphabet=seqpro.DNA)
    assert decode_sequences(theirs) == [row.tobytes().decode() for row in letters]


@pytest.mark.parametrize("pad", ["right", "left", "both"])
def test_padding_of_seqpro(pad):
    seqpro = pytest.importorskip("seqpro")
    unequal = ["ACG", "GATTACA", "T"]
    padded = seqpro.pad_seqs(unequal, pad, pad_value="N")
    assert_same(one_hot_sequences(unequal, pad=pad, dtype="uint8"), seqpro.ohe(padded, seqpro.DNA))


def test_tokens_of_seqpro():
    seqpro = pytest.importorskip("seqpro")
    theirs = seqpro.tokenize(np.array(TEXTS), dict(zip("ACGT", range(4), strict=True)), 4)
    assert_same(tokenize_sequences(TEXTS, unknown="neutral", neutral_code=4), theirs)


def test_tangermeme():
    utils = pytest.importorskip("tangermeme.utils")
    theirs = utils.one_hot_encode(TEXT).numpy()
    assert_same(one_hot_sequences(TEXT, neutral="N", axis=0, dtype="int8"), theirs)
    assert decode_sequences(theirs, axis=0) == utils.characters(
        utils.one_hot_encode(TEXT), allow_N=True
    )


def test_kipoiseq():
    functional = pytest.importorskip("kipoiseq.transforms.functional")
    ours = one_hot_sequences(TEXT, neutral="N", neutral_value=0.25)
    assert_same(ours, functional.one_hot_dna(TEXT))
    assert_same(ours.astype(np.float64), functional.one_hot(TEXT))
    tokens = tokenize_sequences(TEXT, neutral="N", dtype=np.int64)
    assert_same(tokens, functional.tokenize(TEXT))
    whole = TEXT.replace("N", "A")
    assert functional.one_hot2string(one_hot_sequences([whole])) == [whole]


def test_objects_of_sequences_are_read():
    """Records of Biopython and scikit-bio are sequences, too."""
    wanted = one_hot_sequences(["ACGT", "GATA"])
    seq = pytest.importorskip("Bio.Seq").Seq
    assert_same(one_hot_sequences([seq("ACGT"), seq("GATA")]), wanted)
    assert_same(one_hot_sequences(seq("ACGT")), wanted[0])
    record = pytest.importorskip("Bio.SeqRecord").SeqRecord
    assert_same(one_hot_sequences([record(seq("ACGT")), record(seq("GATA"))]), wanted)
    assert_same(one_hot_sequences(record(seq("ACGT"))), wanted[0])


def test_sequences_of_scikit_bio_are_read():
    wanted = one_hot_sequences(["ACGT", "GATA"])
    dna = pytest.importorskip("skbio").DNA
    assert_same(one_hot_sequences([dna("ACGT"), dna("GATA")]), wanted)
    assert_same(one_hot_sequences(dna("ACGT")), wanted[0])


def test_sequences_of_pyfaidx_are_read(tmp_path):
    pyfaidx = pytest.importorskip("pyfaidx")
    path = tmp_path / "two.fa"
    path.write_text(">a\nACGT\n>b\nGATA\n")
    records = pyfaidx.Fasta(str(path))
    wanted = one_hot_sequences(["ACGT", "GATA"])
    assert_same(one_hot_sequences([records["a"][:], records["b"][0:4]]), wanted)
    assert_same(one_hot_sequences(records["a"][:]), wanted[0])
