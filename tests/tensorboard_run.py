#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests the event files that relascope-cli writes, by export and while a run trains: TensorBoard's own reader gives back
every scalar, text and image point by point, and the colours of the maps follow from the values of the captures.

usage: tensorboard_run.py FOLDER_OF_RELASCOPE_CLI [TEST...]   exit status 77 without NumPy, Pillow or TensorBoard's reader
"""
import collections
import io
import json
import shutil
import sys
import time

from run_support import TOP, WithRuns, main, read_file, said, train, train_small, write_file

import numpy as np
from relascope_run import Run

sys.path.insert(0, str(TOP / ".venv/share/relascope/tensorboard"))
try:
    from PIL import Image
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tb_logging
except ImportError as problem:
    print(f"{problem}; bash app/setup.sh installs TensorBoard's reader, and Pillow for Debian's Python")
    sys.exit(77)
tb_logging.get_logger().setLevel("ERROR")

# The colours of the light theme, which are those of resources/docs/formats.md section 15.
SIGNED = ("40004B", "762A83", "9970AB", "C2A5CF", "E7D4E8", "F7F7F7", "D9F0D3", "A6DBA0", "5AAE61", "1B7837", "00441B")
VIRIDIS = ("440154", "482878", "3E4A89", "31688E", "26828E", "1F9E89", "35B779", "6DCD59", "B4DE2C", "FDE725")
PAGE, MASKED, HATCH, NO_NUMBER, NO_HATCH = ((255, 255, 255), (0xF1, 0xF3, 0xF5), (0xBF, 0xC5, 0xCC), (0xFD, 0xEC, 0xEA),
                                            (0xB4, 0x23, 0x18))
GAP = 8
KINDS = {"relations": "relation", "relational attention": "attention-ra", "sensory attention": "attention-sa"}

Board = collections.namedtuple("Board", "scalars texts images walls words")


def read_board(folder):
    """What TensorBoard reads of a run: {tag: {step: value}} of each kind; no step twice."""
    events = EventAccumulator(str(folder), {"scalars": 0, "tensors": 0, "images": 0})
    events.Reload()

    def gathered(kind, read, value):
        found = {}
        for tag in events.Tags()[kind]:
            points = read(tag)
            found[tag] = {point.step: value(point) for point in points}
            assert len(found[tag]) == len(points), f"{tag} has a step twice"
            assert list(found[tag]) == sorted(found[tag]), f"{tag} is not in the order of its steps"
        return found
    scalars = gathered("scalars", events.Scalars, lambda point: point.value)
    walls = {tag: [point.wall_time for point in events.Scalars(tag)] for tag in scalars}
    images = gathered("images", events.Images, lambda point: point)
    texts = {tag: [(t.step, t.wall_time, t.tensor_proto.string_val[0].decode()) for t in events.Tensors(tag)]
             for tag in events.Tags()["tensors"]}
    for tag in texts:
        assert events.SummaryMetadata(tag).plugin_data.plugin_name == "text"
    for tag in images:
        assert events.SummaryMetadata(tag).plugin_data.plugin_name == "images"
    return Board(scalars, texts, images, walls, {tag: events.SummaryMetadata(tag).summary_description for tag in images})


def colours(stops):
    """The 1025 colours of a scale."""
    stops = np.array([[int(stop[k:k + 2], 16) for k in (0, 2, 4)] for stop in stops], np.float64)
    x = np.arange(1025) / 1024 * (len(stops) - 1)
    k = np.minimum(x.astype(int), len(stops) - 2)
    mixed = stops[k] + (x - k)[:, None] * (stops[k + 1] - stops[k])
    return np.floor(mixed + 0.5).astype(np.uint8)


def limits(maps, signed):
    """The ends of the colours of a layer's maps."""
    cells = np.concatenate([values[~hidden & np.isfinite(values)] for values, hidden in maps])
    low, high = cells.min(), cells.max()
    if signed:  # of up to 4096 cells a map all are counted
        inner = np.percentile(cells.astype(np.float64), [2, 98])
        top = np.abs(inner if np.abs(inner).max() > 0 else [low, high]).max()
        return -top, top
    return min(0.0, low), high


def hidden_cells(found):
    return np.triu(np.ones((found.rows, found.columns), bool), 1) & found.causal


def maps_of(capture, kind, layer):
    return [found for found in capture.maps if (found.kind, found.layer) == (kind, layer)]


def hatched(height, width, ground, line):
    y, x = np.indices((height, width))
    return np.where(((x + y) % 7 == 6)[..., None], np.array(line, np.uint8), np.array(ground, np.uint8))


def picture(values, hidden, scale, square):
    """The pixels of a map, and which of them are certain: not at the limit between two colours."""
    signed, (low, high) = scale
    with np.errstate(all="ignore"):
        place = (values.astype(np.float64) - low) / (high - low) * 1024
        index = np.clip(np.floor(np.nan_to_num(place) + 0.5), 0, 1024).astype(int)
        certain = hidden | ~np.isfinite(place) | (np.abs(place - np.floor(place) - 0.5) > 0.01)
    pixels = colours(SIGNED if signed else VIRIDIS)[index]
    large = [np.repeat(np.repeat(array, square, 0), square, 1) for array in (pixels, hidden, np.isnan(values), certain)]
    height, width = large[0].shape[:2]
    large[0] = np.where(large[2][..., None], hatched(height, width, NO_NUMBER, NO_HATCH if square >= 4 else NO_NUMBER), large[0])
    large[0] = np.where(large[1][..., None], hatched(height, width, MASKED, HATCH if height >= 24 else MASKED), large[0])
    return large[0], large[3]


class BoardTest(WithRuns):
    def check_scalars(self, board, run, first=0, earlier={}):
        """They are the metrics and results of the run, and earlier results of it by their steps, no more and no fewer."""
        wanted = collections.defaultdict(dict)
        for split in "train", "validation", "test":
            metrics = run.metrics(split)
            for name, values in metrics.items():
                if name in ("step", "epoch", "examples", "seconds"):
                    continue
                for step, value in zip(metrics["step"].tolist(), values):
                    if step >= first:
                        wanted[f"{name}/{split}"][step] = float(np.float32(value))
        for step, results in {**earlier, run.info["step"]: run.info["results"]}.items():
            for result in results:
                for name, value in result.items():
                    if name not in ("split", "examples"):
                        wanted[f"{name}/{result['split']}"][step] = float(np.float32(value))
        found = {tag: values for tag, values in board.scalars.items() if not tag.startswith("map scale/")}
        self.assertEqual(repr(sorted(found.items())), repr(sorted(wanted.items())))
        self.assertGreater(sum(map(len, found.values())), 10)

    def decoded(self, event):
        image = Image.open(io.BytesIO(event.encoded_image_string))
        image.load()
        self.assertEqual((image.format, image.mode, image.size), ("PNG", "RGB", (event.width, event.height)))
        return np.asarray(image)

    def check_images(self, board, run, steps):
        """Every map of these captures is there, in the colours of its values."""
        wanted = set()
        for step in steps:
            for sample in range(4):
                capture = run.capture(step, sample)
                for word, kind in KINDS.items():
                    for layer, name in enumerate(capture.layers):
                        if maps_of(capture, kind, layer):
                            wanted.add((f"{word}/{name}/{capture.origin}", step))
                            self.check_image(board, f"{word}/{name}/{capture.origin}", step, capture, kind, layer)
        self.assertEqual({(tag, step) for tag, images in board.images.items() for step in images}, wanted)
        scales = {(tag.removeprefix("map scale/"), step) for tag, values in board.scalars.items()
                  if tag.startswith("map scale/") for step in values}
        self.assertEqual(scales, wanted)

    def check_image(self, board, tag, step, capture, kind, layer):
        maps = [(found.values, hidden_cells(found)) for found in maps_of(capture, kind, layer)]
        scale = kind == "relation", limits(maps, kind == "relation")
        self.assertAlmostEqual(board.scalars["map scale/" + tag][step], scale[1][1], delta=1e-5 * abs(scale[1][1]))
        rows, columns = maps[0][0].shape
        square = -(-(200 if len(maps) <= 16 else 100) // max(rows, columns))
        image, across = self.decoded(board.images[tag][step]), int(np.ceil(np.sqrt(len(maps))))
        height, width = rows * square, columns * square
        self.assertEqual(image.shape, (-(-len(maps) // across) * (height + GAP) - GAP, across * (width + GAP) - GAP, 3))
        blank = np.ones(image.shape[:2], bool)
        for k, (values, hidden) in enumerate(maps):
            y, x = k // across * (height + GAP), k % across * (width + GAP)
            part, blank[y:y + height, x:x + width] = image[y:y + height, x:x + width], False
            pixels, certain = picture(values, hidden, scale, square)
            self.assertGreater(certain.mean(), 0.5)
            np.testing.assert_array_equal(part[certain], pixels[certain], f"{tag} at step {step}")
        self.assertTrue((image[blank] == PAGE).all())


def setUpModule():
    WithRuns.begin("tensorboard")
    train_small(WithRuns.folder / "run", "--tensorboard", WithRuns.folder / "live")


class Exported(BoardTest):
    def setUp(self):
        self.run_read, self.out = Run(self.folder / "run"), self.own_folder()

    def test_every_number_text_and_map(self):
        heard = said("export", self.folder / "run", "--tensorboard", self.out)
        file, = (self.out / "run").iterdir()
        self.assertEqual(file.name, f"events.out.tfevents.{self.run_read.info['started_at']}.relascope")
        board = read_board(self.out / "run")
        self.check_scalars(board, self.run_read)
        self.check_images(board, self.run_read, self.run_read.captures())
        self.assertEqual(heard, f"wrote {file} with {sum(map(len, board.images.values()))} images\n")
        (step, _, table), = board.texts["options"]
        rows = dict(line.strip("| ").split(" | ") for line in table.splitlines()[2:] if line.count(" | ") == 1 and
                    not line.endswith(" |  |"))
        self.assertEqual((step, rows["model.d_model"], rows["preset"], rows["train.batch_size"]), (0, "16", "quick", "16"))
        self.assertEqual(rows["parameters"], str(self.run_read.info["parameters"]))
        self.assertNotIn("notes", board.texts)
        began = self.run_read.info["started_at"]
        for split in "train", "validation":
            walls = board.walls["loss/" + split]
            self.assertEqual(walls, sorted(walls))
            for wall, seconds in zip(walls, self.run_read.metrics(split)["seconds"]):
                self.assertTrue(began + seconds <= wall <= began + seconds + 20)
        for images in board.images.values():
            walls = [event.wall_time for event in images.values()]
            self.assertEqual(walls, sorted(walls))
            self.assertTrue(began <= walls[0] and walls[-1] <= max(board.walls["loss/train"] + board.walls["loss/validation"]))
        before = file.read_bytes()
        said("export", self.folder / "run", "--tensorboard", self.out)
        self.assertEqual(file.read_bytes(), before, "the same again")

    def test_the_words_say_what_the_colours_mean(self):
        words, origin = read_board(self.folder / "live/run").words, self.run_read.capture(4).origin
        self.assertIn("green is positive, purple negative", words[f"relations/layer 1/{origin}"])
        self.assertIn("2nd and 98th percentile", words[f"relations/layer 1/{origin}"])
        self.assertIn("the largest value", words[f"sensory attention/layer 1/{origin}"])

    def test_pauses_notes_and_numbers_that_are_not_finite(self):
        copy = self.copy_of("run")
        shutil.rmtree(copy / "captures")
        began = Run(copy).info["started_at"]
        with open(copy / "metrics.jsonl", "w") as file:
            for step in range(1, 5):
                file.write(json.dumps({"step": step, "epoch": 0.1, "examples": step, "seconds": step * 10.0,
                                       "split": "train", "loss": None if step == 2 else 1.5}) + "\n")
            file.write('{"step":5,"split":"train","loss":')
        events = [{"step": 1, "time": began + 10, "level": "info", "text": "a | b\nc"},
                  {"step": 2, "time": began + 1020, "level": "warning", "text": "w"},
                  {"step": 2, "time": began + 1020, "level": "checkpoint", "text": "checkpoint"},
                  {"step": 3, "time": began + 1030, "level": "sample", "text": "# Once\nupon"},
                  {"step": 4, "time": began + 1040, "level": "edit", "text": "e"}]
        (copy / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events) + "{")
        heard = said("export", copy, "--tensorboard", self.out)
        self.assertNotIn("images", heard)
        board = read_board(self.out / "run")
        self.assertEqual([wall - began for wall in board.walls["loss/train"]], [10, 1020, 1030, 1040])
        self.assertEqual(list(map(repr, board.scalars["loss/train"].values())), ["1.5", "nan", "1.5", "1.5"])
        self.assertEqual([(step, text) for step, _, text in board.texts["notes"]],
                         [(1, "    a | b\n    c"), (2, "    warning: w"), (4, "    edit: e")])
        self.assertEqual(board.texts["generated text"], [(3, began + 1030, "    # Once\n    upon")])

    def test_maps_of_a_text_are_masked(self):
        text = self.out / "text.txt"
        text.write_text("".join(f"The state machine of the model {i} is a machine of states.\n" for i in range(400)))
        settings = ["data.context=32", "model.max_block_size=32", "model.n_layers=2", "model.d_model=32", "model.dff=32",
                    f"data.path={text}", "data.tokenizer=characters", "data.train_size=32", "train.keep_mib=0",
                    "train.batch_size=8"]
        train(self.out / "text", "text", "--steps", 2, *[word for each in settings for word in ("--set", each)],
              "--tensorboard", self.out / "live")
        said("export", self.out / "text", "--tensorboard", self.out / "board")
        run, hidden = Run(self.out / "text"), 0
        for board in read_board(self.out / "live/text"), read_board(self.out / "board/text"):
            for step in run.captures():
                capture = run.capture(step)
                for layer, name in enumerate(capture.layers):
                    hidden += hidden_cells(capture.find("relation", layer)).sum()
                    self.check_image(board, f"relations/{name}/pinned sentence", step, capture, "relation", layer)
                    self.check_image(board, f"relational attention/{name}/pinned sentence", step, capture, "attention-ra", layer)
            self.assertIn("hatched", board.words["relations/layer 1/pinned sentence"])
            self.assertTrue(board.texts["generated text"])
        self.assertGreater(hidden, 1000)


class Live(BoardTest):
    def test_every_number_and_map_of_a_run_that_trained_with_it(self):
        run, board = Run(self.folder / "run"), read_board(self.folder / "live/run")
        self.check_scalars(board, run)
        self.check_images(board, run, run.captures())
        self.assertEqual(len(board.texts["options"]), 1)
        self.assertEqual(set(board.texts), {"options"})
        self.assertTrue(all(abs(wall - time.time()) < 3600 for walls in board.walls.values() for wall in walls))
        file, = (self.folder / "live/run").iterdir()
        heard = said("export", self.folder / "run", "--tensorboard", self.folder / "live", code=1)
        self.assertIn("already holds the events " + file.name, heard)
        self.assertEqual(list((self.folder / "live/run").iterdir()), [file])

    def test_a_resumed_run_has_no_step_twice(self):
        copy, board = self.copy_of("run"), self.own_folder()
        shutil.copytree(self.folder / "live/run", board / "run")
        for attempt in 1, 2:  # the first is lost: as after a kill, the run is where its checkpoint was
            began = int(time.time())
            said("train", "--resume", copy, "--steps", 14, "--threads", 1, "--tensorboard", board, "--json")
            self.assertEqual(len(list((board / "run").iterdir())), 1 + attempt)
            if attempt == 1:
                lost = Run(copy).metrics()["loss"][-1]
                shutil.rmtree(copy)
                shutil.copytree(self.folder / "run", copy)
            while int(time.time()) == began:  # files have the seconds in their names, and are read in that order
                time.sleep(0.01)
        run, found = Run(copy), read_board(board / "run")
        self.check_scalars(found, run, earlier={10: Run(self.folder / "run").info["results"]})
        self.check_images(found, run, run.captures())
        self.assertEqual(run.captures()[-2:], [11, 14])
        self.assertEqual(found.scalars["loss/train"][14], float(np.float32(lost)), "the same steps, bit for bit")

    def test_a_run_that_is_only_followed_from_a_later_step(self):
        copy, board = self.copy_of("run"), self.own_folder()
        said("train", "--resume", copy, "--steps", 12, "--threads", 1, "--tensorboard", board)
        self.check_scalars(read_board(board / "run"), Run(copy), first=11)
        self.check_images(read_board(board / "run"), Run(copy), [11, 12])

    def test_a_folder_that_cannot_be_written_stops_before_training(self):
        out = self.own_folder()
        (out / "file").write_text("")
        heard = said("train", "quick", "--steps", 2, "--out", out / "never", "--tensorboard", out / "file", code=1)
        self.assertIn(str(out / "file"), heard)
        self.assertFalse((out / "never").exists())


class Bounds(BoardTest):
    """Captures with other maps than the small runs have."""

    def with_capture(self, maps, layers, samples=1, **metadata):
        """A run with one capture: {key: [samples, maps, rows, columns]}."""
        copy = self.copy_of("run")
        shutil.rmtree(copy / "captures")
        (copy / "captures").mkdir()
        arrays = {"probabilities": np.zeros((samples, 2), np.float32), "images": np.zeros((samples, 1, 1, 3), np.uint8),
                  "labels": np.zeros(samples, np.int64), **maps}
        names, at, header = {"float32": "F32", "uint8": "U8", "int64": "I64"}, 0, {}
        for name, array in arrays.items():
            header[name] = {"dtype": names[str(array.dtype)], "shape": list(array.shape),
                            "data_offsets": [at, at + array.nbytes]}
            at += array.nbytes
        header["__metadata__"] = {"step": "5", "layers": str(layers), "grid_rows": "0", "grid_columns": "0",
                                  "class_token": "0", **metadata}
        write_file(copy / "captures/step-5.safetensors", header, b"".join(array.tobytes() for array in arrays.values()))
        return copy

    def board_of(self, run):
        out = self.own_folder()
        heard = said("export", run, "--tensorboard", out)
        board = read_board(out / run.name)
        notes = " ".join(text for _, _, text in board.texts.get("notes", []))
        return board, heard, notes

    def test_a_large_map_is_pooled_and_one_of_many_objects_scaled_by_percentiles(self):
        values = np.random.default_rng(0).normal(size=(1, 2, 600, 600)).astype(np.float32)
        values[0, 0, 7, 9] = 50
        attention = np.abs(values[:, :1, :300, :300]) / 100
        board, _, notes = self.board_of(self.with_capture({"relation/0": values, "attention-sa/0": attention}, 1))
        self.assertEqual(notes, "")
        tag = "relations/layer 1/sample 1"
        image, top = self.decoded(board.images[tag][5]), board.scalars["map scale/" + tag][5]
        self.assertEqual(image.shape, (300, 608, 3))
        self.assertTrue(1.8 < top < 2.6, top)
        self.assertIn("2 x 2 cells", board.words[tag])
        blocks = values[0].reshape(2, 300, 2, 300, 2).transpose(0, 1, 3, 2, 4).reshape(2, 300, 300, 4)
        pooled = np.take_along_axis(blocks, np.abs(blocks).argmax(-1)[..., None], -1)[..., 0]
        for k in 0, 1:
            pixels, certain = picture(pooled[k], np.zeros((300, 300), bool), (True, (-top, top)), 1)
            np.testing.assert_array_equal(image[:, k * 308:k * 308 + 300][certain], pixels[certain])
        self.assertEqual(tuple(image[3, 4]), (0, 0x44, 0x1B))
        tag = "sensory attention/layer 1/sample 1"
        self.assertIn("98th percentile", board.words[tag])
        self.assertLess(board.scalars["map scale/" + tag][5], 0.5 * attention.max())

    def test_cells_without_a_number(self):
        values = np.zeros((1, 1, 3, 3), np.float32)
        values[0, 0] = [[1, -1, 0], [np.nan, np.inf, -np.inf], [0.5, 0.25, 0]]
        run = self.with_capture({"relation/0": values}, 1, **{"causal_relation/0": "1"})
        board, _, _ = self.board_of(run)
        capture = Run(run).capture(5)
        self.check_image(board, "relations/layer 1/sample 1", 5, capture, "relation", 0)
        image = self.decoded(board.images["relations/layer 1/sample 1"][5])
        self.assertEqual(image.shape, (201, 201, 3))
        self.assertEqual({tuple(pixel) for pixel in image[67:134, :67].reshape(-1, 3)}, {NO_NUMBER, NO_HATCH})
        self.assertEqual({tuple(pixel) for pixel in image[:67, 67:].reshape(-1, 3)}, {MASKED, HATCH})
        self.assertEqual(tuple(image[100, 100]), (0, 0x44, 0x1B))

    def test_more_maps_and_more_images_than_the_bounds(self):
        board, heard, notes = self.board_of(self.with_capture({"relation/0": np.ones((1, 70, 4, 5), np.float32)}, 1))
        self.assertEqual(self.decoded(board.images["relations/layer 1/sample 1"][5]).shape, (8 * 88 - 8, 8 * 108 - 8, 3))
        for words in heard, notes:
            self.assertIn("the first 64 of 70 maps", words)
        layers = {f"{kind}/{k}": np.zeros((2, 2, 3, 3), np.float32) for kind in ("relation", "attention-sa") for k in range(15)}
        board, heard, notes = self.board_of(self.with_capture(layers, 15, 2))
        self.assertEqual(len(board.images), 48)
        self.assertEqual(sum(tag.endswith("sample 1") for tag in board.images), 30)
        self.assertIn("relations/layer 15/sample 2", board.images)
        self.assertNotIn("sensory attention/layer 15/sample 2", board.images)
        for words in heard, notes:
            self.assertIn("48 of 60 images", words)

    def test_a_damaged_capture_is_left_out(self):
        copy = self.copy_of("run")
        header, data = read_file(copy / "captures/step-3.safetensors")
        header["__metadata__"]["layers"] = "x"
        (copy / "captures/step-3.safetensors").write_bytes(b"x")
        board, heard, notes = self.board_of(copy)
        for words in heard, notes:
            self.assertIn("without the images of step 3: ", words)
            self.assertIn("step-3.safetensors", words)
        self.check_images(board, Run(copy), [step for step in Run(copy).captures() if step != 3])
        self.check_scalars(board, Run(copy))
        write_file(copy / "captures/step-3.safetensors", header, data)
        self.assertIn("lacks the metadata 'layers'", self.board_of(copy)[1])


if __name__ == "__main__":
    main(__doc__)
