#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does three tasks with `relascope-cli mcp` through the client that the protocol's authors publish (the package mcp), from the list of tools
and resources alone: finds which relation of the example run is needed and what it tells, draws a map of a checkpoint, and
trains an experiment into an allowed folder.

usage: mcp_client.py FOLDER_OF_RELASCOPE_CLI   exit status 77 without the package mcp
"""
import asyncio
import base64
import json
import pathlib
import shutil
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path[0] = str(TOP / ".venv/share/relascope/mcp")  # in place of this folder, whose mcp.py is another
try:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
except ImportError as problem:
    print(f"{sys.executable}: {problem}; bash tests/run.sh installs the package mcp")
    sys.exit(77)
BIN = pathlib.Path(sys.argv[1]).resolve()


def fields(model):
    """A result as the JSON that was sent: releases of the package name the attributes differently."""
    return json.loads(model.model_dump_json(by_alias=True, exclude_none=True))


class Agent:
    """Knows nothing but what the server tells."""

    def __init__(self, session):
        self.session = session

    async def learn(self):
        begun = fields(await self.session.initialize())
        assert begun["serverInfo"]["name"] == "relascope" and "interval" in begun["instructions"], begun
        self.tools = {tool["name"]: tool for tool in fields(await self.session.list_tools())["tools"]}
        self.resources = fields(await self.session.list_resources())["resources"]

    def tool(self, *words):
        """The tool whose description has all of these words."""
        found = [name for name, tool in self.tools.items() if all(word in tool["description"] for word in words)]
        assert len(found) == 1, (words, found)
        return found[0]

    def path_of(self, kind):
        """The path in the description of the first resource of a kind."""
        return next(one["description"].rsplit(": ", 1)[1] for one in self.resources if one["uri"].startswith(f"relascope://{kind}/"))

    async def call(self, tool, progress=None, **arguments):
        known = self.tools[tool]["inputSchema"]
        assert set(known["required"]) <= set(arguments) <= set(known["properties"]), (tool, arguments)
        result = fields(await self.session.call_tool(tool, arguments, progress_callback=progress))
        assert not result.get("isError"), result["content"][0]
        return result


async def work(home):
    runs, allowed = home / "runs", home / "allowed"
    allowed.mkdir()
    run = shutil.copytree(TOP / "resources/example/run", runs / "example")
    shutil.copytree(TOP / "tests/fixtures/golden/public/gpt2_tied", run / "checkpoints/step-1")
    server = StdioServerParameters(command=str(BIN / "relascope-cli"), args=["mcp", "--runs", str(runs), "--write", str(allowed)])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        agent = Agent(session)
        await agent.learn()

        # Which relation of the example run is needed, and what does it tell?
        example = agent.path_of("runs")
        assert json.loads(fields(await session.read_resource(next(one["uri"] for one in agent.resources if "/runs/" in one["uri"])))["contents"][0]["text"])["preset"]
        fractions = []

        async def progress(done, total, message):
            fractions.append(done / total)

        scan = await agent.call(agent.tool("in sentences"), progress, path=example, seconds=20, picture=False)
        needed = {part["part"]: part["label"] for part in scan["structuredContent"]["parts"] if part["use"] == "needed"}
        assert "same object" in needed["layer 1 relation 1"], needed
        found = next(one for one in scan["structuredContent"]["findings"] if "relation 1 " in one["finding"])
        assert "same object" in found["finding"] and "untrained" in found["proof"], found
        assert fractions == sorted(fractions) and all(0 <= fraction <= 1 for fraction in fractions)
        assert scan["content"][-1]["text"].startswith("The same again: relascope-cli scan ")

        # A map of a checkpoint, as a picture.
        drawn = await agent.call("inspect", path=agent.path_of("checkpoints"), tokens=[1, 2, 3], kind="attention-sa", layer=1)
        assert drawn["structuredContent"]["rows"] == 3, drawn["structuredContent"]
        images = [part for part in drawn["content"] if part["type"] == "image"]
        assert len(images) == (BIN / "relascope").exists()
        assert all(base64.b64decode(image["data"])[:4] == b"\x89PNG" for image in images)

        # An experiment of ten steps into the folder that is allowed.
        trained = await agent.call(agent.tool("trains"), preset="quick", out="mine", steps=10,
                                   set=["data.train_size=64", "data.validation_size=48", "data.test_size=16"])
        assert trained["structuredContent"]["steps"] == 10, trained["structuredContent"]
        assert json.loads((allowed / "mine/run.json").read_text())["state"] == "done"
        parts = await agent.call("parts", path=str(allowed / "mine"), picture=False)
        assert parts["structuredContent"]["parameters"] == sum(part["parameters"] for part in parts["structuredContent"]["parts"])
        refused = fields(await session.call_tool("train", {"preset": "quick", "out": "../mine"}))
        assert refused["isError"] and not (home / "mine").exists(), refused


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(asyncio.wait_for(work(pathlib.Path(folder)), 280))
print("mcp client: in order")
