#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains checkpoints of public families for some steps and opens what was saved with the `transformers` package: its
logits must be those of relascope-cli, and a resumed run equal to the bit.

usage: saved_for_transformers.py FOLDER_OF_RELASCOPE_CLI [FOLDER_OF_GOLDEN_CASES]   exit status 77 without `transformers`
"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageClassification, AutoTokenizer
    from transformers import DeiTForImageClassificationWithTeacher
except ModuleNotFoundError as missing:
    print(f"{sys.executable} has no {missing.name}; run it with a Python that has transformers 4.57 and torch")
    sys.exit(77)

TOP = pathlib.Path(__file__).resolve().parent.parent
cli = pathlib.Path(sys.argv[1]) / "relascope-cli"
golden = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else TOP / "tests/fixtures/golden/public"
TOLERANCE = 2e-5
TEXT = "".join("the cat sat on the mat. " if i % 3 == 0 else "A dog ran to the cat, twice!\n" for i in range(200))


def run(*words):
    done = subprocess.run([cli, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"relascope-cli {' '.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def write_png(path, width, height, colour):
    rows = b"".join(b"\0" + bytes((colour[c] + 3 * x + 5 * y) % 256 for x in range(width) for c in range(3)) for y in range(height))
    part = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                     part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b""))


def image_folder(path, classes):
    for c in range(classes):
        (path / f"class-{c}").mkdir(parents=True)
        for k in range(4):
            write_png(path / f"class-{c}/{k}.png", 30 + k, 26, (40 * c, 200 - 30 * c, 17 * k))


def shard(path, vocabulary):
    torch.manual_seed(1)
    path.write_bytes(struct.pack("<600H", *torch.randint(0, vocabulary, (600,)).tolist()))


def options(home, case, config):
    """The words of `train` for a case: its data."""
    common = ["--init-from", case, "--device", "cpu", "--threads", 1]
    for setting in ("train.batch_size=2", "train.warmup_steps=0", "train.schedule=constant", "train.keep_mib=0",
                    "train.learning_rate=1e-3", "data.validation_size=4", "train.checkpoint_every=1"):
        common += ["--set", setting]
    if hasattr(config, "image_size"):
        return ["fashion-mnist", *common, "--set", "data.task=folder", "--set", "data.augment=none", "--set", "data.train_size=0",
                "--data", home / "images"]
    common += ["--set", "data.context=12"]
    if (case / "tokenizer.json").exists():
        return ["text", *common, "--data", home / "text.txt"]
    return ["text", *common, "--set", "data.tokenizer=characters", "--data", home / f"{case.name}.bin"]


def model_of(folder):
    config = AutoConfig.from_pretrained(folder)
    if not hasattr(config, "image_size"):
        if getattr(config, "rope_parameters", None):  # as version 5 writes it, which version 4 does not read
            for key in ("rope_theta", "partial_rotary_factor"):
                if key in config.rope_parameters:
                    setattr(config, key, config.rope_parameters[key])
        if config.model_type == "gemma":  # which version 4 takes at its word
            config.hidden_act = "gelu_pytorch_tanh"
        # Eager attention of a Falcon with distances adds them twice.
        attention = "sdpa" if getattr(config, "alibi", False) else "eager"
        return AutoModelForCausalLM.from_pretrained(folder, config=config, dtype=torch.float32, attn_implementation=attention)
    teacher = config.architectures[0] == "DeiTForImageClassificationWithTeacher"
    kind = DeiTForImageClassificationWithTeacher if teacher else AutoModelForImageClassification
    return kind.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")


def difference(folder, io, images, home):
    """The largest difference of logits: theirs are computed here, ours by `verify`."""
    model = model_of(folder).eval()
    x = io["input/images" if images else "input/tokens"]
    with torch.no_grad():
        logits = (model(pixel_values=x) if images else model(input_ids=x.long())).logits
    copy = home / "verify"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for file in ("config.json", "model.safetensors"):
        shutil.copy(folder / file, copy)
    save_file({"input/images" if images else "input/tokens": x, "output/logits": logits.contiguous()}, copy / "io.safetensors")
    return next(line for line in run("verify", copy).splitlines() if "output/logits" in line)


failed = []
home = pathlib.Path(tempfile.mkdtemp(prefix="relascope-saved-"))
os.environ["XDG_CACHE_HOME"] = str(home / "cache")
try:
    (home / "text.txt").write_text(TEXT)
    for case in sorted(golden.iterdir()):
        if not (case / "config.json").exists():
            continue
        config = AutoConfig.from_pretrained(case)
        images = hasattr(config, "image_size")
        shutil.rmtree(home / "images", ignore_errors=True)
        if images:
            image_folder(home / "images", config.num_labels)
        else:
            shard(home / f"{case.name}.bin", config.vocab_size)
        io = load_file(case / "io.safetensors")
        words = options(home, case, config)
        whole, parts = home / f"{case.name}-whole", home / f"{case.name}-parts"
        run("train", *words, "--steps", 3, "--out", whole)
        run("train", *words, "--steps", 1, "--out", parts)
        line = difference(parts / "checkpoints/step-1", io, images, home)
        before = load_file(next(case.glob("model*.safetensors"))) if list(case.glob("model*.safetensors")) else {}
        saved = load_file(parts / "checkpoints/step-1/model.safetensors")
        kept = all(saved[name].dtype == tensor.dtype and saved[name].shape == tensor.shape for name, tensor in before.items()
                   if name in saved)
        tokenizer = ""
        if (case / "tokenizer.json").exists():
            theirs = AutoTokenizer.from_pretrained(parts / "checkpoints/step-1")(TEXT[:60])["input_ids"]
            kept = kept and theirs == AutoTokenizer.from_pretrained(case)(TEXT[:60])["input_ids"]
            tokenizer = ", tokenizer opened"
        run("train", "--resume", parts, "--steps", 3, "--threads", 1)
        bits = all((whole / "checkpoints/step-3" / file).read_bytes() == (parts / "checkpoints/step-3" / file).read_bytes()
                   for file in ("model.safetensors", "optimizer.safetensors"))
        print(f"{case.name}: {' '.join(line.split())}; types and shapes {'kept' if kept else 'LOST'}, "
              f"resumed {'to the bit' if bits else 'DIFFERENTLY'}{tokenizer}", flush=True)
        numbers = [float(word) for word in line.replace(",", " ").split() if word.replace(".", "").replace("e-", "").isdigit()]
        if not kept or not bits or "ok" not in line.split() or (numbers and numbers[0] > TOLERANCE):
            failed.append(case.name)
finally:
    shutil.rmtree(home, ignore_errors=True)
print("all in order" if not failed else "failed: " + ", ".join(failed))
sys.exit(bool(failed))
