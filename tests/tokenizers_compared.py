#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the tokenizers of the golden cases with the `tokenizers` package on 10,000 lines: words, code, CJK, emoji,
combining marks, control characters and odd spaces, names of special tokens, numbers, letters of many scripts. The ids must be
equal, and give the text back (after NFC, where the tokenizer has it). The same lines go through tokenizers that are made here:
every normalizer and pre_tokenizer, BPE of characters, and folders with settings beside them, which `transformers` reads where it
is installed; of these the ids are compared.

usage: tokenizers_compared.py FOLDER_OF_RELASCOPE_CLI [FOLDER_OF_TOKENIZER...]   exit status 77 without `tokenizers`
"""
import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata

try:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
except ModuleNotFoundError:
    print(f"{sys.executable} has no tokenizers; run it with a Python that has them")
    sys.exit(77)
try:
    from transformers import AutoTokenizer
except ModuleNotFoundError:
    AutoTokenizer = None

TOP = pathlib.Path(__file__).resolve().parent.parent
cli = pathlib.Path(sys.argv[1]) / "relascope-cli"
GOLDEN = TOP / "tests/fixtures/golden"
folders = [pathlib.Path(name) for name in sys.argv[2:]] or sorted(
    file.parent for part in ("public", "public-tokenizers", "families-tokenizers", "vision-families") for file in GOLDEN.glob(part + "/*/tokenizer.json"))

WORDS = (TOP / "resources/docs/models.md").read_text().split()
CODE = (TOP / "core/model/language/language.cpp").read_text().splitlines()
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|begin_of_text|>", "<|padding|>", "<unk>", "</s>"]
MARKS = "\u0301\u0308\u0323\u030a\u0327"
CONTROL = [1, 2, 7, 8, 9, 11, 12, 27, 127, 0x85, 0xa0, 0x180e, 0x2003, 0x2028, 0x200b, 0x3000, 0xfeff]
SCRIPTS = [(32, 127), (0xa1, 0x24f), (0x370, 0x600), (0x900, 0xe00), (0xac00, 0xd7a3), (0x1f300, 0x1faff)]
draw = random.Random(7)


def some(most, one):
    return "".join(one() for _ in range(draw.randrange(1, most)))


def letter():
    """Of any script, and of Unicode 3.2: the package orders marks that came after its tables (U+09FE) otherwise."""
    while True:
        one = chr(draw.randrange(*draw.choice(SCRIPTS)))
        if unicodedata.ucd_3_2_0.category(one) != "Cn" or ord(one) > 0xffff:
            return one


def line(kind):
    word = draw.choice(WORDS)
    return (lambda: " ".join(draw.choice(WORDS) for _ in range(draw.randrange(1, 15))),
            lambda: draw.choice(CODE),
            lambda: some(20, lambda: chr(draw.randrange(0x4e00, 0x9fff))),
            lambda: some(8, lambda: draw.choice("\U0001f600\U0001f916\u200d\U0001f467\u2708\ufe0f\U0001f1e9")) + " " + word,
            lambda: some(10, lambda: draw.choice("aeiounAEO") + draw.choice(MARKS)),
            lambda: word + some(5, lambda: chr(draw.choice(CONTROL))) + word,
            lambda: word + draw.choice(SPECIAL) + " " * draw.randrange(0, 5) + word,
            lambda: some(25, lambda: draw.choice("0123456789 .,-")) + "I'll don't WE'RE",
            lambda: some(20, letter))[kind]()


text = "\n".join(line(i % 9) for i in range(10000))
# What is done at the beginning of a text is done behind each special token.
parted = "<|endoftext|>".join("\n".join(text.split("\n")[i:i + 7]) for i in range(0, 10000, 7))


def of_bytes(normalizer=None, splitter=None, **more):
    """A variant of the golden GPT-2."""
    made = json.loads((GOLDEN / "public-tokenizers/gpt2/tokenizer.json").read_text())
    made["normalizer"] = normalizer
    made["pre_tokenizer"] = splitter or BYTES
    words = made["model"]["vocab"]
    for content, flags in more.pop("added", {}).items():
        plain = {**made["added_tokens"][0], "special": False, "content": content}
        following = 1 + max(token["id"] for token in made["added_tokens"])
        made["added_tokens"].append({**plain, **flags, "id": words.get(content, following)})
    made["model"].update(more.pop("model", {}))
    return {**made, **more}


def of_characters(normalizer=None, splitter=None, unknown="<unk>", **model):
    """BPE of the characters of the documents, as Llama 2's."""
    made = copy.deepcopy(CHARACTERS)
    made["normalizer"], made["pre_tokenizer"] = normalizer, splitter
    made["model"].update(model, unk_token=unknown)
    return made


def all_of(kind, *parts):
    return {"type": "Sequence", kind: list(parts)}


def split(pattern, behavior="Isolated", invert=False, form="Regex"):
    return {"type": "Split", "pattern": {form: pattern}, "behavior": behavior, "invert": invert}


BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
BARE = {**BYTES, "use_regex": False}
MARK = "\u2581"
LLAMA2 = all_of("normalizers", {"type": "Prepend", "prepend": MARK},
                {"type": "Replace", "pattern": {"String": " "}, "content": MARK})
trained = Tokenizer(models.BPE(unk_token="<unk>"))
trained.pre_tokenizer = pre_tokenizers.Metaspace()
trained.train_from_iterator(WORDS, trainers.BpeTrainer(
    vocab_size=2000, show_progress=False,
    special_tokens=["<unk>", "<s>", "<|endoftext|>"] + [f"<0x{byte:02X}>" for byte in range(256)]))
CHARACTERS = json.loads(trained.to_str())
CHARACTERS["added_tokens"] = CHARACTERS["added_tokens"][:3]

made = {f"normalizer {kind}": of_bytes({"type": kind})
        for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")}
made |= {
    "no normalizer": of_bytes(all_of("normalizers")),
    "normalizers": of_bytes(all_of("normalizers", {"type": "NFD"}, {"type": "StripAccents"}, all_of(
        "normalizers", {"type": "Lowercase"}), {"type": "Strip", "strip_left": True, "strip_right": True})),
    "Replace, Prepend": of_bytes(all_of(
        "normalizers", {"type": "Replace", "pattern": {"Regex": "[0-9]+|\\s{2,}"}, "content": "#"},
        {"type": "Replace", "pattern": {"String": "."}, "content": " . "}, {"type": "Prepend", "prepend": "__"})),
    "added tokens": of_bytes({"type": "Lowercase"}, added={
        "The": {"normalized": True}, "of": {"single_word": True}, " the": {"rstrip": True}, "AND": {"lstrip": True},
        "model": {"normalized": True, "lstrip": True, "rstrip": True}}),
    "words that are whole": of_bytes(model={"ignore_merges": True, "byte_fallback": True, "fuse_unk": True, "unk_token": "!"}),
    "prefix space": of_bytes(None, {**BYTES, "add_prefix_space": True}),
    "prefix space, no words": of_bytes(None, {**BARE, "add_prefix_space": True}),
    "prefix space of parts": of_bytes(None, all_of("pretokenizers", split("\\s+"), {**BYTES, "add_prefix_space": True})),
    "digits": of_bytes(None, all_of("pretokenizers", {"type": "Digits", "individual_digits": False}, BARE)),
    "thousands": of_bytes(None, all_of("pretokenizers", split("(?=(\\d{3})+(?!\\d))"), BARE)),
    "behind the bytes": of_bytes(None, all_of("pretokenizers", BYTES, {"type": "Digits", "individual_digits": True})),
    "behind the bytes, too": of_bytes(None, all_of("pretokenizers", {"type": "WhitespaceSplit"}, BYTES, split("\\w\\b"))),
    "a text": of_bytes(None, all_of("pretokenizers", split(" ", "MergedWithNext", form="String"), split(
        ".", "MergedWithPrevious", form="String"), BARE)),
    "patterns of Ruby": of_bytes(None, all_of("pretokenizers", split("^.|.$|\\b\\w|\\h{2}|\\W\\S\\B|(?m:\\t.)|\\u00e9"), BARE)),
    "scripts": of_bytes(None, all_of("pretokenizers", split("\\p{Han}+|[\\p{Hiragana}\\p{Greek}]+|\\P{Latin}|[^\\S\\n]"), BARE)),
    "Roberta": of_bytes(post_processor={"type": "RobertaProcessing", "sep": ["</s>", 5], "cls": ["<s>", 3],
                                        "trim_offsets": True, "add_prefix_space": False}),
}
made |= {f"split {behavior}{' inverted' * invert}": of_bytes(None, all_of(
    "pretokenizers", split("[aeiou]|\\d|\\s", behavior, invert), BARE))
    for behavior in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous") for invert in (False, True)}
for one in ({"type": "Whitespace"}, {"type": "WhitespaceSplit"}, {"type": "BertPreTokenizer"}, {"type": "Punctuation", "behavior": "Contiguous"},
            {"type": "CharDelimiterSplit", "delimiter": "e"}, {"type": "Digits", "individual_digits": True},
            {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "always", "split": True},
            {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "first", "split": False},
            {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "never", "split": True}):
    name = " ".join(str(value) for key, value in one.items() if key != "replacement")
    made[name] = of_characters(None, one)
    made[name + ", bytes"] = of_bytes(None, all_of("pretokenizers", one, BARE))
made |= {"Llama 2": of_characters(LLAMA2, byte_fallback=True, fuse_unk=True),
         "Llama 2, all bytes": of_characters(LLAMA2, unknown=None, byte_fallback=True),
         "unknown": of_characters(LLAMA2), "unknown, fused": of_characters(LLAMA2, fuse_unk=True)}



def of_family(name, normalizer=None, splitter=None, decoder=None, **model):
    """A variant of a golden tokenizer of another kind, with a token that begins texts anew."""
    made = json.loads((GOLDEN / "families-tokenizers" / name / "tokenizer.json").read_text())
    following = max([len(made["model"]["vocab"]) - 1] + [token["id"] for token in made["added_tokens"]]) + 1
    if all(token["content"] != "<|endoftext|>" for token in made["added_tokens"]):
        made["added_tokens"].append({**made["added_tokens"][0], "content": "<|endoftext|>", "id": following})
    made["normalizer"] = normalizer if normalizer is not None else made["normalizer"]
    made["pre_tokenizer"] = splitter or made["pre_tokenizer"]
    made["decoder"] = decoder or made["decoder"]
    made["model"].update(model)
    return made


def bert(**flags):
    return {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
            "lowercase": True, **flags}


def metaspace(scheme, split=True):
    return {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": split}


CHARSMAP = json.loads((GOLDEN / "families-tokenizers/unigram_bytes/tokenizer.json").read_text())["normalizer"]
PLAIN = all_of("normalizers")
decoded = {
    "WordPiece": of_family("wordpiece"),
    "WordPiece, cased": of_family("wordpiece", bert(lowercase=False)),
    "WordPiece, accents": of_family("wordpiece", bert(strip_accents=False)),
    "WordPiece, cased without accents": of_family("wordpiece", bert(lowercase=False, strip_accents=True)),
    "WordPiece, controls": of_family("wordpiece", bert(clean_text=False, handle_chinese_chars=False)),
    "WordPiece without normalizer": of_family("wordpiece", PLAIN),
    "WordPiece, short words": of_family("wordpiece", max_input_chars_per_word=5),
    "WordPiece, blanks kept": of_family("wordpiece", decoder={"type": "WordPiece", "prefix": "##", "cleanup": False}),
    "WordPiece, one word": of_family("wordpiece", splitter={"type": "Split", "pattern": {"String": "e"}, "behavior": "Isolated",
                                                             "invert": False}, max_input_chars_per_word=10**6),
    "Unigram, bytes": of_family("unigram_bytes"),
    "Unigram, unknown": of_family("unigram_bytes", byte_fallback=False),
    "Unigram, plain": of_family("unigram_bytes", PLAIN),
    "Unigram, charsmap alone": of_family("unigram_bytes", CHARSMAP["normalizers"][0]),
    "Gemma with a prefix": of_family("gemma", LLAMA2), "Gemma": of_family("gemma"),
}
decoded |= {f"Unigram, {scheme}{'' if split else ', not split'}": of_family(
    "unigram_bytes", None, metaspace(scheme, split), metaspace(scheme, split))
    for scheme in ("always", "first", "never") for split in (True, False)}
made["end of word"] = of_family("clip")
made["end of word, cased"] = of_family("clip", {"type": "NFC"})
made["end of word, characters"] = {
    **of_characters(None, {"type": "WhitespaceSplit"}, end_of_word_suffix="e", fuse_unk=True)}
made["end of word, characters"]["model"]["merges"] = []

ENDS = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"}
PAD = {"content": "<pad>", "lstrip": True, "rstrip": False, "single_word": False, "normalized": False, "special": True}
beside = {  # a folder with vocab.json and merges.txt, or a tokenizer.json, and what lies beside
    "GPT-2": {"tokenizer_config.json": {"tokenizer_class": "GPT2Tokenizer"}},
    "GPT-2 with settings": {"tokenizer_config.json": {
        "tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True, "add_bos_token": True, "pad_token": "<pad>", **ENDS}},
    "GPT-2 as saved": {"tokenizer_config.json": {"tokenizer_class": "GPT2Tokenizer"}, "special_tokens_map.json": ENDS,
                       "added_tokens.json": {"<pad>": 2398, "zebra": 2399, "<new>": 2400}},
    "GPT-NeoX": {"tokenizer_config.json": {"tokenizer_class": "GPTNeoXTokenizer", "add_bos_token": True, "add_eos_token": True, **ENDS}},
    "Qwen2": {"tokenizer_config.json": {"tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": {"2398": PAD}, "pad_token": "<pad>"}},
    "Qwen2, model_type": {"config.json": {"model_type": "qwen2"}},
    "tokenizer.json with settings": {"tokenizer.json": of_bytes(), "tokenizer_config.json": {
        "tokenizer_class": "PreTrainedTokenizerFast", "added_tokens_decoder": {"2400": PAD}, "eos_token": "<eos>"}},
}


def same_ids(ours, theirs, name):
    first = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    same = ours == theirs
    print(f"{name}: {len(theirs)} ids {'equal' if same else f'DIFFER at {first}: {ours[first:first + 5]}, not {theirs[first:first + 5]}'}")
    return same


with tempfile.TemporaryDirectory() as home:
    home = pathlib.Path(home)
    lines, ids = home / "lines.txt", home / "ids.txt"
    lines.write_bytes(text.encode())

    def tokenize(file, folder, *options):
        return subprocess.run([cli, "tokenize", file, "--tokenizer", folder, *options], capture_output=True,
                              check=True).stdout.decode()

    good = True
    for folder in folders:
        theirs = Tokenizer.from_file(str(folder / "tokenizer.json"))
        same = json.loads(tokenize(lines, folder, "--typed", "--json"))["ids"] == theirs.encode(text).ids
        bare = theirs.encode(text, add_special_tokens=False).ids
        ids.write_text(" ".join(map(str, bare)))
        whole = text if theirs.normalizer is None else unicodedata.normalize("NFC", text)
        if folder.parent.name in ("families-tokenizers", "vision-families"):  # these do not give texts back as they were
            whole = theirs.decode(bare, skip_special_tokens=False).replace(" </w>", " ").replace("</w>", " ")
        back = tokenize(ids, folder, "--decode").strip() == whole.strip()
        print(f"{folder.name}: ids {'equal' if same else 'DIFFER'}, text {'back' if back else 'NOT BACK'}")
        good = good and same and back

    lines.write_bytes(parted.encode())
    for name, file in (made | decoded).items() if len(sys.argv) < 3 else ():
        folder = home / name
        folder.mkdir()
        (folder / "tokenizer.json").write_text(json.dumps(file))
        published = Tokenizer.from_str(json.dumps(file))
        theirs = published.encode(parted).ids
        good = same_ids(json.loads(tokenize(lines, folder, "--typed", "--json"))["ids"], theirs, name) and good
        if name in decoded:
            ids.write_text(" ".join(map(str, theirs)))
            back = tokenize(ids, folder, "--decode").rstrip("\n")
            whole = published.decode(theirs, skip_special_tokens=False).rstrip("\n")
            good = good and back == whole
            if back != whole:
                at = next((i for i, (a, b) in enumerate(zip(back, whole)) if a != b), min(len(back), len(whole)))
                print(f"{name}: the text of the ids DIFFERS at {at}: {back[at - 20:at + 20]!r}, not {whole[at - 20:at + 20]!r}")
    if AutoTokenizer is None:
        print("without transformers, folders with settings are not compared")
    for name, files in beside.items() if len(sys.argv) < 3 and AutoTokenizer else ():
        folder = home / name
        folder.mkdir()
        if "tokenizer.json" not in files:
            model = of_bytes()["model"]
            merges = (" ".join(merge) if isinstance(merge, list) else merge for merge in model["merges"])
            vocabulary = model["vocab"] | {"<|endoftext|>": 2395, "<mask>": 2396, "<|padding|>": 2397}
            files = files | {"vocab.json": vocabulary, "merges.txt": "#version: 0.2\n" + "\n".join(merges) + "\n"}
        for file, content in files.items():
            (folder / file).write_text(content if isinstance(content, str) else json.dumps(content))
        theirs = AutoTokenizer.from_pretrained(folder).encode(parted)
        good = same_ids(json.loads(tokenize(lines, folder, "--typed", "--json"))["ids"], theirs, name) and good
sys.exit(0 if good else 1)
