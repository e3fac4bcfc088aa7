# SPDX-License-Identifier: GPL-3.0-or-later
"""What resources/docs/python.md shows, without PyTorch; the tests run it. It reads runs/quick, any run of Relascope on
images (relascope-cli train quick --steps 200 --out runs/quick).

usage: python tutorial.py, in the folder that has runs/
"""
import numpy as np
import relascope

# 1. A run of one's own
run = relascope.Run("runs/mine", model={"name": "two heads", "width": 32}, data={"set": "noise"}, total_steps=100)
draw = np.random.default_rng(0)
images = draw.random((2, 12, 12, 1))            # [S, height, width, channels], from 0 to 1
for step in range(1, 101):
    run.log(step, loss=1 / step, accuracy=1 - 1 / step, examples=32 * step)
    if step % 25 == 0:
        run.log(step, split="validation", loss=1.1 / step, accuracy=0.9 - 1 / step)
        scores = np.exp(step / 50 * draw.normal(size=(2, 2, 9, 9)))
        weights = scores / scores.sum(axis=-1, keepdims=True)    # [S, heads, n, n]
        relation = draw.normal(size=(2, 9, 9, 4))                # r_ij, [S, n, n, d_r]
        run.capture(step, inputs={"images": images, "patch": 4, "labels": [0, 1], "classes": ["no", "yes"]},
                    layers=[relascope.Layer("block 1", attention=weights, relation=relation)])
        run.weights(step, {"head.weight": draw.normal(size=(2, 32)), "head.bias": np.zeros(2)})
run.done()

# 2. What is in it
mine = relascope.read("runs/mine")
validation, step = mine.metrics("validation"), mine.captures()[-1]
print(validation["step"], validation["accuracy"])
relation = mine.capture(step, sample=1).find("relation", layer=0, index=2)
print(relation.values.shape, mine.weights(100)["head.weight"].dtype)

# 3. A picture
picture = relascope.map(relation, title=f"r_ij after step {step}")
picture.save("relation.svg")

# 4. The engine
heads = relascope.analyse("runs/quick", "heads", sample=0)
print(list(heads))
scan = relascope.analyse("runs/quick", "scan", seconds=1)
for sentence in scan["findings"]:
    print(sentence)
parts = scan.table("parts")                       # {column: array}; scan.frame("parts") with pandas
print(list(parts))
table = relascope.command("compare", "runs/quick", "runs/mine").table("runs")
print(table["run"], table["validation"])
options = relascope.command("compare", "runs/quick", "runs/mine", differences=True)
print(options["differing"], "of", options["fields"], "options differ")

# 5. Maps and edits
capture = relascope.maps("runs/quick", sample=3)
first = capture.find("relation", layer=0, index=0)
print(capture.layers, first.values.shape, capture.probabilities)
edited = relascope.edit("runs/quick", "layer 1 relation 1 zero", sample=3)
print(edited.before.probabilities, edited.after.probabilities)
print(np.abs(edited.difference("relation", layer=1)).max())
try:
    relascope.analyse("runs/quick", "eval", split="tst")
except relascope.EngineError as error:
    print(error)                                  # the sentence of relascope-cli
