# SPDX-License-Identifier: GPL-3.0-or-later
"""What the package does from a shell.

    python3 -m relascope tensorboard RUN... --logdir DIR [--follow]
"""
import argparse
import sys

from .reading import RunError


def main(words=None):
    parser = argparse.ArgumentParser(prog="python3 -m relascope", description="Relascope's package for Python.")
    board = parser.add_subparsers(dest="command", required=True).add_parser(
        "tensorboard", help="writes runs for TensorBoard, which must be installed",
        description="Writes every number, text and option of runs into event files, for tensorboard --logdir DIR.")
    board.add_argument("runs", nargs="+", metavar="RUN", help="a run folder, or one of several seeds")
    board.add_argument("--logdir", required=True, metavar="DIR", help="the folder of TensorBoard; each run has one of its name in it")
    board.add_argument("--follow", action="store_true", help="go on with what runs that train write, until they end")
    given = parser.parse_args(words)
    try:
        from . import tensorboard
        for path in tensorboard.write(given.runs, given.logdir, given.follow):
            print(f"wrote {path}", file=sys.stderr)
    except RunError as error:
        print(f"relascope: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
