"""Subwords (section 5.1): one SentencePiece BPE vocabulary, shared by source and target.

Text is taken as it is: no Unicode normalisation, no lower-casing. `decode(encode(x))` equals `x`
but for white space: runs of spaces become one, spaces at the ends go, U+2581 (SentencePiece's own
sign for a space) is a space, and so is whatever `one_line` replaces. A character outside the
vocabulary becomes its UTF-8 bytes, so UNK is never needed.
"""

import hashlib
import random
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import sentencepiece
from jaxtyping import Int32

from transformer_jax import files
from transformer_jax.batch import BOS, EOS, PAD, UNK
from transformer_jax.errors import InputError

# Control characters (NUL, tab, CR, form feed, U+0085, ...), the two Unicode line breaks that are
# none, and lone surrogates, which UTF-8 cannot encode.
_NOT_IN_A_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

# SentencePiece counts positions in 16 bits; longer sentences stay out of the vocabulary's sample.
_MAX_BYTES = 65535


def one_line(sentence: str) -> str:
    """The sentence with each control character, line break and lone surrogate as a space.

    Every reader, however it splits lines, then sees one line.
    """
    return _NOT_IN_A_LINE.sub(" ", sentence)


def train(
    sentences: Iterable[str],
    model_path: str | Path,
    vocab_size: int,
    *,
    symbols: Sequence[str] = (),
    max_sentences: int = 1_000_000,
    seed: int = 0,
) -> "Subword":
    """Learns a vocabulary of exactly `vocab_size` subwords and writes it to `model_path`.

    The `symbols` are among them, an id each that no text encodes to, such as the labels of trees.

    The sentences may be many: BPE is learned from a uniform sample of at most `max_sentences`,
    which, like the bytes of the model file, depends on the sentences and the seed alone. Sentences
    over 65,535 bytes are not sampled. The file appears complete or not at all.

    Raises:
      InputError: there is no text, `vocab_size` does not fit it, or the file cannot be written.
    """
    sample = _sample(sentences, max_sentences, seed)
    if not sample:
        raise InputError(
            f"cannot learn the subwords of {model_path}: there is no text to learn from"
        )
    model = _Buffer()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sample),
            model_writer=model,
            model_type="bpe",
            vocab_size=vocab_size,
            pad_id=PAD,
            eos_id=EOS,
            bos_id=BOS,
            unk_id=UNK,
            control_symbols=list(symbols),
            byte_fallback=True,
            # The rarest characters, one in 20,000 of the text, become bytes. At 1.0 every stray
            # ideogram of a web-crawled corpus would take a place in the vocabulary.
            character_coverage=0.99995,
            normalization_rule_name="identity",
            max_sentence_length=_MAX_BYTES,
            num_threads=1,  # the model file records the number of threads
            minloglevel=2,
        )
    except RuntimeError as error:
        raise _explained(error, vocab_size) from None
    _write(Path(model_path), model.content)
    return Subword(model.content, str(model_path))


class Subword:
    """A SentencePiece vocabulary: sentences to ids and back.

    Attributes:
      size: number of subwords, the special ones of `batch.py` included.
      symbols: the ids of the symbols that no text encodes to.
      fingerprint: SHA-256 of the model file, in hexadecimal.
    """

    def __init__(self, model: bytes, name: str):
        """Takes the content of a model file; `name` says in errors where it came from."""
        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        except RuntimeError:
            raise InputError(
                f"{name}: not a SentencePiece model; learn one with this project"
            ) from None
        processor = self._processor
        found = (processor.pad_id(), processor.eos_id(), processor.bos_id(), processor.unk_id())
        if found != (PAD, EOS, BOS, UNK):
            raise InputError(
                f"{name}: PAD, EOS, BOS, UNK are {found} but must be {(PAD, EOS, BOS, UNK)}; "
                "learn the vocabulary with this project"
            )
        self._model = model
        self.size: int = processor.get_piece_size()
        self.symbols: dict[str, int] = {
            processor.id_to_piece(id): id
            for id in range(self.size)
            if processor.is_control(id) and id not in found
        }
        self.fingerprint: str = hashlib.sha256(model).hexdigest()

    @classmethod
    def load(cls, path: str | Path) -> "Subword":
        """Reads a model file that `train` wrote.

        Raises:
          InputError: the file cannot be read, is no SentencePiece model, or has other special ids.
        """
        try:
            model = Path(path).read_bytes()
        except OSError as error:
            raise InputError(f"cannot read the vocabulary {path}: {error.strerror}") from None
        return cls(model, str(path))

    def save(self, path: str | Path) -> None:
        """Writes the model file, complete or not at all."""
        _write(Path(path), self._model)

    def split(self, ids: Int32[np.ndarray, " N"], most: int) -> list[Int32[np.ndarray, " _"]]:
        """Cuts a sentence into pieces of at most `most` ids, of similar length, between words.

        A word of more than `most` ids is cut inside.
        """
        starts = np.array([self._processor.id_to_piece(int(i)).startswith("\u2581") for i in ids])
        pieces = []
        while len(ids) > most:
            even = -(-len(ids) // -(-len(ids) // most))
            words = np.flatnonzero(starts[1 : even + 1]) + 1
            end = int(words[-1]) if len(words) else even
            pieces.append(ids[:end])
            ids, starts = ids[end:], starts[end:]
        return [*pieces, ids]

    def encode(self, sentences: Sequence[str]) -> list[Int32[np.ndarray, " N"]]:
        """The ids of each sentence, without EOS; an empty sentence has none."""
        encoded = self._processor.encode([one_line(sentence) for sentence in sentences])
        return [np.array(ids, np.int32) for ids in encoded]

    def decode(self, sequences: Iterable[Sequence[int] | np.ndarray]) -> list[str]:
        """The text of each sequence up to its first EOS, PAD and BOS left out; always one line.

        Bytes that are no UTF-8 become U+FFFD.

        Raises:
          InputError: an id is not in the vocabulary.
        """
        texts = []
        for sequence in sequences:
            ids = np.asarray(sequence, np.int64)
            ends = np.flatnonzero(ids == EOS)
            ids = ids[: ends[0]] if ends.size else ids
            ids = ids[(ids != PAD) & (ids != BOS)]
            if ids.size and (ids.min() < 0 or ids.max() >= self.size):
                raise InputError(
                    f"ids {ids.min()} to {ids.max()} do not fit a vocabulary of {self.size} "
                    "subwords; use the vocabulary that the model was trained with"
                )
            texts.append(one_line(self._processor.decode(ids.tolist())))
        return texts


class _Buffer:
    """What SentencePiece's trainer wants to write to."""

    content = b""

    def write(self, content: bytes) -> None:
        self.content = content


def _sample(sentences: Iterable[str], max_sentences: int, seed: int) -> list[str]:
    """A uniform sample without replacement of the sentences that are not blank (Algorithm R)."""
    generator = random.Random(seed)
    sample: list[str] = []
    seen = 0
    for sentence in sentences:
        line = one_line(sentence).strip()
        if not line or len(line.encode()) > _MAX_BYTES:
            continue
        seen += 1
        if len(sample) < max_sentences:
            sample.append(line)
        elif (place := generator.randrange(seen)) < max_sentences:
            sample[place] = line
    return sample


def _explained(error: RuntimeError, vocab_size: int) -> InputError:
    """SentencePiece's error in the user's words."""
    message = str(error)
    if found := re.search(r"value <= (\d+)", message):
        return InputError(
            f"subword.vocab_size {vocab_size} is too large for this text, which has only "
            f"{found[1]} different subwords; set it to {found[1]} or less"
        )
    if found := re.search(r"required_chars\. -?\d+ vs (\d+)", message):
        return InputError(
            f"subword.vocab_size {vocab_size} is too small: bytes and characters of this text "
            f"alone are {found[1]} subwords; set it to {found[1]} or more"
        )
    return InputError(f"SentencePiece cannot learn {vocab_size} subwords (vocab_size): {message}")


def _write(path: Path, content: bytes) -> None:
    try:
        files.write(path, content)
    except OSError as error:
        raise InputError(f"cannot write the vocabulary {path}: {error.strerror}") from None
