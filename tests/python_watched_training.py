#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests trainings that relascope.watch() looks at: they compute the same bits with and without, whatever a look changes; what
cannot be put back is refused; captures have a budget; trainers of other packages. The Python is that of python_watch.py.

usage: python_watched_training.py FOLDER_OF_RELASCOPE_CLI [TEST...]        exit status 77 without NumPy or PyTorch
"""
import copy
import json
import math
import os
import pickle
import random
import warnings

from run_support import WithRuns, cli, main
from watch_support import Watching

import numpy as np
import relascope
import torch
from torch import nn


def setUpModule():
    WithRuns.begin("watched")


class Noisy(nn.Module):
    """A model with everything that a probe could disturb."""

    def __init__(self):
        super().__init__()
        self.norm, self.drop = nn.BatchNorm1d(6), nn.Dropout(0.5)
        self.block = nn.TransformerEncoderLayer(8, 2, 16, 0.3, batch_first=True)
        self.out = nn.Linear(8, 2)
        self.register_buffer("calls", torch.zeros(1))
        self.register_buffer("cache", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        self.cache = self.cache + 1  # another tensor
        random.random(), np.random.random()
        x = x + 0.01 * torch.randn_like(x)
        return self.out(self.drop(self.block(self.norm(x))).mean(1))


class TestTraining(Watching):
    def train(self, watched, compile_it=False, autocast=False):
        torch.manual_seed(0), random.seed(0), np.random.seed(0)
        model = Noisy()
        model.block.linear1.eval()  # a flag of its own
        optimizer, losses = torch.optim.SGD(model.parameters(), 0.1), []
        data, run = torch.Generator().manual_seed(1), self.run_of()
        if watched:
            relascope.watch(model, run, every=2, inputs=torch.randn(3, 6, 8, generator=torch.Generator().manual_seed(2)), outputs="logits",
                            weights=True)
        for step in range(1, 10):
            x = torch.randn(16, 6, 8, generator=data)
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                loss = nn.functional.cross_entropy(model(x), (x[:, 0, 0] > 0).long())
            optimizer.zero_grad()
            loss.backward()
            run.log(step, loss=loss)  # the gradients are there
            optimizer.step()
            losses.append(loss.item())
        run.done()
        flags = [module.training for module in model.modules()]
        state = {name: value.clone() for name, value in model.state_dict().items()}
        return losses, state, flags, (torch.rand(3), random.random(), np.random.random()), relascope.read(run.path)

    def test_the_training_is_the_same_bit_for_bit(self):
        for autocast in False, True:
            losses, state, flags, draws, _ = self.train(False, autocast=autocast)
            for _ in range(2):
                found = self.train(True, autocast=autocast)
                self.assertEqual(found[0], losses)
                for name, value in state.items():
                    self.assertTrue(torch.equal(found[1][name], value), name)
                self.assertEqual(found[2], flags)
                self.assertTrue(torch.equal(found[3][0], draws[0]))
                self.assertEqual(found[3][1:], draws[1:])
        read = found[4]
        self.assertEqual(read.captures(), [0, 2, 4, 6, 8, 9])
        self.assertEqual(read.kept_steps(), [0, 2, 4, 6, 8, 9])
        self.assertEqual(read.info["parameters"], sum(p.numel() for p in Noisy().parameters()))
        capture = read.capture(9, 2)
        self.assertAlmostEqual(float(capture.probabilities.sum()), 1, 5)
        for found in capture.maps:
            np.testing.assert_allclose(found.values.sum(1), 1, atol=1e-6)
        stated = json.loads(cli("inspect", read.path, "--step", 9, "--sample", 2, "--kind", "attention-sa", "--json"))
        np.testing.assert_array_equal(np.float32(stated["values"]), capture.find("attention-sa", 0).values.ravel())

    def test_what_is_not_finite_is_left_out(self):
        class Returned(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(()))

            def forward(self, x):
                weights = torch.softmax(self.scale * x @ x.mT, -1)[:, None]
                return x, weights

        class EagerAttention(Returned):
            pass

        class Recorded(Returned):
            def forward(self, x):
                relascope.record("mine", super().forward(x)[1], "attention")
                return x

        class Scaled(Returned):
            def forward(self, x):
                x = x[:, None]
                return nn.functional.scaled_dot_product_attention(self.scale * x, x, x)

        class MultiHead(Returned):
            def __init__(self):
                super().__init__()
                self.a = nn.MultiheadAttention(8, 2, batch_first=True)

            def forward(self, x):
                return self.a(self.scale * x, x, x)[0]
        x = torch.randn(2, 5, 8)
        for kind in EagerAttention, Recorded, Scaled, MultiHead:
            with self.subTest(kind.__name__):
                model, run = kind(), self.run_of()
                relascope.watch(model, run, every=1, inputs=x)
                run.log(1, loss=1.0)
                model.scale.data.fill_(math.nan)
                with self.assertWarnsRegex(UserWarning, "the maps of step 2 are left out.*not finite"):
                    run.log(2, loss=math.nan)
                run.log(3, loss=math.nan)
                model.scale.data.fill_(1)
                run.log(4, loss=1.0)
                run.done()
                read = relascope.read(run.path)
                self.assertEqual((read.captures(), [each["step"] for each in read.events()]), ([0, 1, 4], [2, 3]))

    def test_captures_have_a_budget(self):
        model, run = nn.MultiheadAttention(8, 2, batch_first=True), self.run_of()
        x = torch.randn(2, 180, 8)  # half a MiB
        relascope.watch(model, run, every=1, inputs=lambda model: model(x, x, x), keep_mib=3, weights=True)
        for step in range(1, 41):
            run.log(step, loss=1.0)
        run.done()
        read = relascope.read(run.path)
        self.assertLess(sum(each.stat().st_size for each in os.scandir(run.path + "/captures")), 3 << 20)
        captures = read.captures()
        self.assertEqual((captures[0], captures[-1], len(captures)), (0, 40, 5))
        self.assertEqual(captures, sorted(captures))
        ratios = [(b + 1) / (a + 1) for a, b in zip(captures, captures[1:])]
        self.assertLess(max(ratios), 4)  # over the whole training, more of them early
        self.assertEqual(read.kept_steps()[:3], [0, 1, 2])  # small weights have room
        self.assertEqual([each["text"][:32] for each in read.events()], ["the maps have filled keep_mib, 3"])
        unlimited = self.run_of()
        relascope.watch(model, unlimited, every=1, inputs=lambda model: model(x, x, x), keep_mib=None)
        for step in range(1, 9):
            unlimited.log(step, loss=1.0)
        self.assertEqual(len(relascope.read(unlimited.path).captures()), 9)
        with self.assertRaisesRegex(relascope.RunError, "keep_mib: is 0"):
            relascope.watch(model, run, inputs=x, keep_mib=0)

    def test_a_model_that_is_moved_later(self):
        model, run, x = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), self.run_of(), torch.randn(1, 4, 8)
        relascope.watch(model, run, every=1, inputs=(x, torch.zeros(4, 4)))
        model.to(torch.bfloat16)  # as trainers do, and as they move it to a GPU
        run.log(1, loss=1.0)
        np.testing.assert_allclose(relascope.read(run.path).capture(1).maps[0].values, relascope.read(run.path).capture(0).maps[0].values,
                                   atol=0.02)
        self.assertEqual(relascope.watch.__globals__["_moved"]({"x": [x], "n": 3}, ("meta", torch.half))["x"][0].device.type, "meta")

    def test_a_model_that_holds_its_run(self):
        class Logging(nn.Module):
            def __init__(self, run):
                super().__init__()
                self.a, self.run, self.step = nn.MultiheadAttention(8, 2, batch_first=True), run, 0

            def forward(self, x):
                self.step += 1
                self.run.log(self.step, loss=1.0)
                return self.a(x, x, x)[0]
        run, x = self.run_of(), torch.randn(1, 4, 8)
        model = Logging(run)
        relascope.watch(model, run, every=1, inputs=x)
        average = copy.deepcopy(model)
        model(x), model(x)
        self.assertIs(average.run, run)
        read = relascope.read(run.path)
        self.assertEqual((read.metrics()["step"].tolist(), read.captures()), ([1, 2], [0, 1, 2]))
        with self.assertRaisesRegex(relascope.RunError, "another process"):
            pickle.dumps(run)

    def test_a_failure_ends_the_watch_and_not_the_training(self):
        model, run, fail = nn.MultiheadAttention(8, 2, batch_first=True), self.run_of(), []
        x = torch.randn(1, 4, 8)

        def call(model):
            if fail:
                raise ValueError("out of luck")
            return model(x, x, x)
        relascope.watch(model, run, every=1, inputs=call)
        run.log(1, loss=1.0)
        fail.append(1)
        model.train()
        with self.assertWarnsRegex(UserWarning, "out of luck"):
            run.log(2, loss=1.0)
        run.log(3, loss=1.0)
        self.assertTrue(model.training)
        self.assertEqual(relascope.read(run.path).captures(), [0, 1])
        self.assertIn("out of luck", relascope.read(run.path).events()[-1]["text"])

    def test_hostile_arguments(self):
        run, linear, x = self.run_of(), nn.Linear(8, 8), torch.randn(1, 4, 8)
        for model, given, words in ((linear, {"inputs": x}, "relascope.record"), (3, {"inputs": x}, "torch.nn.Module"),
                                    (linear, {}, "inputs: are missing"), (linear, {"inputs": x, "every": 0}, "every"),
                                    (linear, {"inputs": x, "outputs": "x"}, "outputs"), (linear, {"inputs": x, "show": {"image": 1}}, "'image'")):
            with self.assertRaisesRegex(relascope.RunError, words):
                relascope.watch(model, run, **given)
        linear.config = type("Config", (), {"_attn_implementation": "flash_attention_2"})
        with self.assertRaisesRegex(relascope.RunError, 'attn_implementation="eager"'):
            relascope.watch(linear, run, inputs=x)
        self.assertEqual(run._watches, [])


class Adapted(nn.Linear):
    """Merges its adapter into its weights in eval(), and takes it out again in train(), as those of loralib and peft."""

    def __init__(self, d, how):
        super().__init__(d, d, bias=False)
        self.a, self.b = nn.Parameter(torch.randn(2, d) * 0.3), nn.Parameter(torch.zeros(d, 2))
        self.how, self.merged, self.weight.requires_grad = how, False, False

    def train(self, mode=True):
        super().train(mode)
        if mode == self.merged:
            with torch.no_grad():
                merged = self.weight + (-1 if mode else 1) * self.b @ self.a
                if self.how == "data":
                    self.weight.data += merged - self.weight
                elif self.how == "in place":
                    self.weight.copy_(merged)
                elif self.how == "storage":
                    self.weight.data = merged
                else:
                    self.weight = nn.Parameter(merged, requires_grad=False)
            self.merged = not mode
        return self

    def forward(self, x):
        return nn.functional.linear(x, self.weight) + (0 if self.merged else x @ self.a.T @ self.b.T)


class Cache:
    """An object of the same file, which a module holds."""

    def __init__(self):
        self.calls, self.last, self.lengths = 0, None, []


calls, seen, draws = 0, [], np.random.default_rng(0)


class Stateful(nn.Module):
    """Keeps everything that a forward can change anywhere but in parameters, buffers and flags, and computes with it."""

    def __init__(self):
        super().__init__()
        self.count, self.mean, self.array, self.cache = 0, torch.zeros(8), np.zeros(3), Cache()
        self.history, self.table, self.kinds = [], {}, set()
        self.generators = torch.Generator().manual_seed(3), np.random.default_rng(3), random.Random(3), np.random.RandomState(3)
        self.linear = nn.Linear(8, 8)
        self.weight_of = nn.utils.parametrizations.spectral_norm(nn.Linear(8, 8))
        counted = [0]
        self.linear.register_forward_hook(lambda module, args, output: counted.__setitem__(0, counted[0] + 1))
        self.linear.register_forward_hook(self.hook)
        self.counted = lambda: counted[0]

    def hook(self, module, args, output):
        seen.append(len(output))

    def forward(self, x):
        global calls
        calls += 1
        self.count += 1
        self.mean += 0.1 * x.detach().mean((0, 1))
        self.array[self.count % 3] += 1
        self.history.append(float(x.detach().mean()))
        self.table[self.count] = len(self.history)
        self.kinds.add(self.count)
        self.cache.calls += 1
        self.cache.last = x.detach()
        self.cache.lengths.append(len(x))
        torch_draw, numpy_draw, python_draw, old_draw = self.generators
        noise = (torch.rand(1, generator=torch_draw).item() + numpy_draw.random() + python_draw.random() + old_draw.random_sample()
                 + draws.random())
        state = calls + self.count + self.counted() + len(seen) + len(self.history) + self.cache.calls + len(self.cache.lengths) + self.array.sum()
        x = self.weight_of(self.linear(x)) + 0.01 * noise + 0.001 * state + self.mean
        x = x.clone()
        return nn.functional.scaled_dot_product_attention(*[x[:, None]] * 3)[:, 0].mean(1)


class TestNothingChanges(Watching):
    def train(self, make, watched, before_backward=False):
        """What a training is, to the last bit: losses, state, what comes next of the generators."""
        global calls, draws
        calls, draws = 0, np.random.default_rng(0)
        seen.clear()
        torch.manual_seed(0), random.seed(0), np.random.seed(0)
        model, x, y = make().train(), torch.randn(16, 5, 8), torch.randn(16, 8)
        optimizer, losses = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], 1e-2), []
        run = self.run_of()
        if watched:
            relascope.watch(model, run, every=3, inputs=x[:2], weights=True)
        for step in range(1, 13):
            loss = nn.functional.mse_loss(model(x), y)
            losses.append(loss.item())
            optimizer.zero_grad()
            if before_backward:
                run.log(step, loss=loss)  # a graph waits for backward()
            loss.backward()
            optimizer.step()
            if not before_backward:
                run.log(step, loss=loss)
        run.done()
        if watched:
            self.assertEqual(relascope.read(run.path).captures(), [0, 3, 6, 9, 12])
        state = {name: value.numpy().tobytes() for name, value in model.state_dict().items()}
        return model, (losses, state, [module.training for module in model.modules()], torch.rand(1).item(), draws.random(), calls, list(seen))

    def test_adapters_that_merge_in_eval(self):
        for how in "data", "in place", "storage", "parameter":
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.q, self.k, self.v, self.head = Adapted(8, how), Adapted(8, how), Adapted(8, how), nn.Linear(8, 8)

                def forward(self, x):
                    q, k, v = (part(x)[:, None] for part in (self.q, self.k, self.v))
                    return self.head(nn.functional.scaled_dot_product_attention(q, k, v)[:, 0].mean(1))
            for before_backward in False, True:
                with self.subTest(how, before_backward=before_backward):
                    _, without = self.train(Net, False, before_backward)
                    model, found = self.train(Net, True, before_backward)
                    self.assertEqual(found, without)
                    self.assertEqual([model.q.merged, model.v.merged], [False, False])

    def test_whatever_a_forward_keeps(self):
        for before_backward in False, True:
            first, without = self.train(Stateful, False, before_backward)
            model, found = self.train(Stateful, True, before_backward)
            self.assertEqual(found, without)
            for each in "count", "history", "table", "kinds":
                self.assertEqual(getattr(model, each), getattr(first, each), each)
            self.assertEqual(vars(model.cache).keys(), vars(first.cache).keys())
            self.assertEqual((model.cache.calls, model.counted()), (first.cache.calls, first.counted()))
            self.assertTrue(torch.equal(model.mean, first.mean) and (model.array == first.array).all())

    def test_inputs_and_gradients_are_as_before(self):
        class InPlace(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 8)

            def forward(self, x):
                x.add_(1)  # of whoever calls it
                self.linear.requires_grad_(False)
                self.linear.zero_grad()
                x = self.linear(x)[:, None]
                return nn.functional.scaled_dot_product_attention(x, x, x)
        model, x = InPlace(), torch.randn(2, 5, 8)
        model.linear(x).sum().backward()
        before, gradient = x.clone(), model.linear.weight.grad
        capture = self.captured(model, x)
        self.assertTrue(torch.equal(x, before) and model.linear.weight.requires_grad)
        self.assertIs(model.linear.weight.grad, gradient)
        np.testing.assert_array_equal(capture.arrays["vectors"], before[0].numpy())

    def test_what_cannot_be_put_back_is_refused(self):
        class Base(nn.Module):
            def attend(self, x):
                return nn.functional.scaled_dot_product_attention(*[x[:, None]] * 3)

        class Iterating(Base):
            def __init__(self):
                super().__init__()
                self.steps = iter(range(10 ** 6))

            def forward(self, x):
                next(self.steps)
                return self.attend(x)

        class Generating(Base):
            def __init__(self):
                super().__init__()
                self.steps = (k for k in range(10 ** 6))

            def forward(self, x):
                next(self.steps)
                return self.attend(x)

        class Outside(Base):
            def forward(self, x):  # of another file
                relascope.frames.counter = getattr(relascope.frames, "counter", 0) + 1
                return self.attend(x + relascope.frames.counter)

        class Lazy(Base):
            def __init__(self):
                super().__init__()
                self.linear = nn.LazyLinear(8)

            def forward(self, x):
                return self.attend(self.linear(x))

        class Large(Base):
            def __init__(self):
                super().__init__()
                self.table = torch.zeros(17 << 20)

            def forward(self, x):
                self.table[0] += 1
                return self.attend(x)
        x, run = torch.randn(2, 5, 8), self.run_of()
        self.addCleanup(lambda: relascope.frames.__dict__.pop("counter", None))
        for kind, words in ((Iterating, "steps when it is called"), (Generating, "steps when"), (Outside, "other maps when it is called a second time"),
                            (Lazy, "linear.(weight|bias) at its first call"), (Large, "table when it is called")):
            with self.subTest(kind.__name__), self.assertRaisesRegex(relascope.RunError, words):
                relascope.watch(kind(), run, inputs=x)
        self.assertEqual((run._watches, relascope.read(run.path).captures()), ([], []))
        batches = iter(torch.randn(9, 2, 5, 8))
        with self.assertRaisesRegex(relascope.RunError, "second time|batches|inputs"):  # they would be taken from the training
            relascope.watch(Base(), run, inputs=lambda model: model.attend(next(batches)))


class TestTrainers(Watching):
    def language_model(self):
        import transformers
        torch.manual_seed(0)
        return transformers.LlamaForCausalLM(transformers.LlamaConfig(
            vocab_size=20, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16, attention_dropout=0.1))

    def test_the_trainer_of_transformers(self):
        import transformers
        data = [{"input_ids": torch.randint(20, (6,), generator=torch.Generator().manual_seed(k))} for k in range(16)]
        data = [{**each, "labels": each["input_ids"]} for each in data]

        def train(watched):
            model, run = self.language_model(), self.run_of()

            class Log(transformers.TrainerCallback):
                def on_log(self, args, state, control, logs=None, **more):
                    run.log(state.global_step, logs)
            if watched:
                relascope.watch(model, run, every=2, inputs={"input_ids": data[0]["input_ids"][None]})
            options = transformers.TrainingArguments(str(self.own_folder()), num_train_epochs=2, per_device_train_batch_size=4, logging_steps=1,
                                                     report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True, eval_strategy="epoch")
            trainer = transformers.Trainer(model, options, train_dataset=data, eval_dataset=data[:4], callbacks=[Log()])
            trainer.remove_callback(transformers.PrinterCallback)
            trainer.train()
            run.results("test", **trainer.evaluate())
            run.done()
            return {name: value.numpy().tobytes() for name, value in model.state_dict().items()}, relascope.read(run.path)
        (without, _), (found, read) = train(False), train(True)
        self.assertEqual(found, without)
        self.assertEqual((read.captures(), read.info["epoch"], read.events()), ([0, 2, 4, 6, 8], 2.0, []))
        self.assertEqual(read.metrics()["step"][-1], 8)
        self.assertIn("eval_loss", read.info["results"][0])

    def test_lightning(self):
        import lightning.pytorch as lightning

        class Module(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.block, self.out = nn.TransformerEncoderLayer(8, 2, 16, 0.2, batch_first=True), nn.Linear(8, 1)

            def forward(self, x):
                return self.out(self.block(x).mean(1))

            def training_step(self, batch, index):
                loss = self(batch[0]).pow(2).mean()
                self.log("train/loss", loss)
                return loss

            def configure_optimizers(self):
                return torch.optim.AdamW(self.parameters(), 0.01)

        def train(watched):
            torch.manual_seed(0)
            model, run, probe = Module(), self.run_of(), torch.randn(2, 5, 8)
            data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(16, 5, 8)), 4, shuffle=True)

            class Log(lightning.Callback):
                def on_train_start(self, trainer, module):
                    if watched:
                        relascope.watch(module, run, every=2, inputs=probe)

                def on_train_batch_end(self, trainer, module, *more):
                    run.log(trainer.global_step, {**trainer.callback_metrics, "epoch": trainer.current_epoch, "step": trainer.global_step})
            trainer = lightning.Trainer(max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu",
                                        enable_model_summary=False, log_every_n_steps=1, callbacks=[Log()])
            trainer.fit(model, data)
            run.done()
            return {name: value.numpy().tobytes() for name, value in model.state_dict().items()}, relascope.read(run.path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Lightning
            (without, _), (found, read) = train(False), train(True)
        self.assertEqual(found, without)
        self.assertEqual((read.captures(), read.info["epoch"], read.events()), ([0, 2, 4, 6, 8], 1.0, []))
        self.assertEqual(set(read.metrics()) >= {"train/loss"}, True)


if __name__ == "__main__":
    main(__doc__)
