"""Encoders in files: as JSON, and in the metadata of the files that the command writes."""

from __future__ import annotations

from onehot_fast.cli.messages import CommandError, Exit, reading, without_remedy
from onehot_fast.cli.old_documents import read_encoder
from onehot_fast.cli.places import Place
from onehot_fast.encoder import Encoder

# The key of the encoder in the metadata of an encoded file.
ENCODER_KEY = b"onehot_fast.encoder"


def load_encoder(place: Place) -> Encoder:
    """Read a fitted encoder from a file."""
    with reading(place.address, Exit.SCHEMA), place.open() as file:
        return parsed_encoder(bytes(file.read()), place.address)


def parsed_encoder(text: bytes, name: str) -> Encoder:
    """Return the fitted encoder in the JSON that was read from the file `name`."""
    try:
        encoder = read_encoder(text)
        _ = encoder.schema.names
    except (ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
        raise CommandError(
            Exit.SCHEMA,
            f"{name} is not an encoder written by --save-encoder: {without_remedy(error)}",
        ) from error
    return encoder


def names_of(encoder: Encoder) -> list[str]:
    """Return the names of the columns that an encoder encodes."""
    return [*map(str, encoder.columns or ())]
