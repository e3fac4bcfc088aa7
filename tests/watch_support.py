# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of relascope.watch share. Importing it ends the test with exit status 77, for skipped, without PyTorch."""
import os
import sys

from run_support import WithRuns

try:
    import torch
except ImportError as error:  # also one whose libraries are not there
    print(f"{sys.executable} has no PyTorch: {str(error).splitlines()[0]}")
    sys.exit(77)
import numpy as np

import relascope

sys.path.remove(os.path.dirname(os.path.abspath(__file__)))  # where `datasets` is no package that transformers knows
torch.set_num_threads(1)


class Watching(WithRuns):
    def run_of(self, **more):
        run = relascope.Run(self.own_folder() / "run", **more)
        self.addCleanup(run.done)
        return run

    def captured(self, model, inputs, sample=0, **more):
        """What watch() captures of a model."""
        torch.manual_seed(1)
        run = self.run_of()
        self.path = run.path
        relascope.watch(model, run, inputs=inputs, **more).close()
        return relascope.read(run.path).capture(0, sample)

    def metadata(self):
        """Of what captured() has captured."""
        return relascope.reading.Safetensors(self.path + "/captures/step-0.safetensors").metadata

    def same(self, capture, kind, layer, wanted, causal=False):
        """wanted: [maps, n, m]."""
        for index, values in enumerate(wanted.detach().float().numpy()):
            np.testing.assert_allclose(capture.find(kind, layer, index).values, values, rtol=0, atol=1e-6)
            self.assertEqual(capture.find(kind, layer, index).causal, causal)
        self.assertEqual(sum(found.kind == kind and found.layer == layer for found in capture.maps), len(wanted))
