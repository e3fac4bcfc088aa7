#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Talks to `relascope-cli mcp` as an agent does: versions, the reviewed list of tools (tests/fixtures/mcp_tools.json), answers
that are those of the command line, pictures, resources, files below the folder for writing and nowhere else, progress,
cancellation, and messages that are none.

usage: mcp.py FOLDER_OF_RELASCOPE_CLI [--write]   --write: writes the list of tools anew, for a review
"""
import base64
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
TOOLS = TOP / "tests/fixtures/mcp_tools.json"
GPT2 = str(TOP / "tests/fixtures/golden/public/gpt2_tied")
cli = pathlib.Path(sys.argv[1]) / "relascope-cli"


def png_size(part):
    """Width and height of an image of an answer."""
    assert (part["type"], part["mimeType"]) == ("image", "image/png"), part
    data = base64.b64decode(part["data"], validate=True)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", data[16:24])


def of_type(result, kind):
    return [part for part in result["content"] if part["type"] == kind]


class Server:
    def __init__(self, *words, program=cli):
        self.process = subprocess.Popen([program, "mcp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.number = 0

    def write(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def read(self):
        return json.loads(self.process.stdout.readline())

    def send(self, method, **parameters):
        self.number += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}))
        return self.number

    def ask(self, method, **parameters):
        number = self.send(method, **parameters)
        answer = self.read()
        assert answer["id"] == number, answer
        return answer

    def call(self, tool, **arguments):
        return self.ask("tools/call", name=tool, arguments=arguments)["result"]

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(30) == 0


with tempfile.TemporaryDirectory() as allowed:
    writing = Server("--write", allowed)
    tools = writing.ask("tools/list")["result"]["tools"]
    writing.end()
if "--write" in sys.argv:
    TOOLS.write_text(json.dumps(tools, indent=1, ensure_ascii=False) + "\n")
assert tools == json.loads(TOOLS.read_text()), "the list of tools is another; write it anew with --write and read the difference"

server = Server()
for wanted, given in (("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-11-25"), ("1999-01-01", "2025-11-25")):
    begun = server.ask("initialize", protocolVersion=wanted, capabilities={}, clientInfo={"name": "test", "version": "1"})["result"]
    assert begun["protocolVersion"] == given and begun["serverInfo"]["name"] == "relascope", begun
server.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
assert server.ask("ping")["result"] == {}

# Without a folder for writing nothing writes.
read_only = server.ask("tools/list")["result"]["tools"]
for tool in tools:
    if tool["name"] not in ("train", "draw", "export"):
        for written in ("out", "save", "save_head"):
            tool["inputSchema"]["properties"].pop(written, None)
assert read_only == [tool for tool in tools if tool["name"] not in ("train", "draw", "export")]
places = {tool["name"]: tool["inputSchema"]["required"] for tool in tools}
assert places["lens"] == places["info"] == places["study"] == ["path"] and places["compare"] == ["runs"], places

# The same as on the command line.
drawing = (cli.parent / "relascope").exists()
for tool, arguments, words in (
        ("lens", {"tokens": [1, 2, 3], "top": 3}, ["--tokens", "1,2,3", "--top", "3"]),
        ("inspect", {"tokens": [1, 2, 3], "kind": "attention-sa", "layer": 2}, ["--tokens", "1,2,3", "--kind", "attention-sa", "--layer", "2"]),
        ("qk-components", {"kind": "attention-sa", "layer": 1, "index": 1, "edits": ["layer 2 sensory head 1 zero"]},
         ["--kind", "attention-sa", "--layer", "1", "--index", "1", "--edit", "layer 2 sensory head 1 zero"])):
    typed = subprocess.run([cli, tool, GPT2, *words, "--json"], capture_output=True, text=True, check=True).stdout
    result = server.call(tool, path=GPT2, **arguments)
    assert not result["isError"], result
    # A terminal's text has control characters escaped, which is the same JSON.
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"] == json.loads(typed), tool
    # The last line is the command; where a picture can be drawn, it stands beside the numbers.
    assert result["content"][-1]["text"].startswith(f"The same again: relascope-cli {tool} "), result["content"][-1]
    assert len(of_type(result, "image")) == drawing, [part["type"] for part in result["content"]]
    assert not drawing or min(png_size(of_type(result, "image")[0])) > 100
    plain = server.call(tool, path=GPT2, picture=False, **arguments)
    assert plain["content"][0] == result["content"][0] and not of_type(plain, "image")

# By its name of earlier versions.
assert server.call("dictionary", path=GPT2, kind="attention-sa")["structuredContent"] == server.call("qk-components", path=GPT2, kind="attention-sa")["structuredContent"]

# What cannot be answered is said in a sentence.
for arguments, sentence in (({"path": GPT2}, "--image: a checkpoint has no data"), ({}, "path: is missing"),
                            ({"path": GPT2, "tokens": "1,2"}, "tokens: "), ({"path": GPT2, "top": 0}, "top: 0 is below 1"),
                            ({"path": GPT2, "tokesn": [1]}, "tokesn: unknown option 'tokesn'"),
                            ({"path": "/nowhere", "tokens": [1]}, "/nowhere"), ({"path": [], "tokens": [1]}, "path: is no text"),
                            ({"path": GPT2, "edits": "x"}, "edits: is no list of texts"),
                            ({"path": GPT2, "tokens": [1], "picture": "no"}, "picture: "), ({"path": GPT2, "tokens": [1], "out": "a.csv"}, "out: unknown option")):
    result = server.call("lens", **arguments)
    assert result["isError"] and sentence in result["content"][0]["text"], (arguments, result)
assert server.ask("tools/call", name="train", arguments={})["error"]["code"] == -32602
assert server.ask("tools/call", name=7)["error"]["code"] == -32602
assert server.ask("prompts/list")["error"]["code"] == -32601
for text, code in (("{", -32700), ("[]", -32600), ("7", -32600), ('{"jsonrpc": "2.0", "id": 1}', -32600),
                   ('{"jsonrpc": "2.0", "id": 1, "method": 3}', -32600), ('{"id": 1, "method": "ping"}', -32600)):
    server.write(text)
    assert server.read()["error"]["code"] == code, text
server.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [1]}))
assert server.read()["error"]["code"] == -32602
# Deep or long messages, ids that are none, and control characters.
for text in ("[" * 100000, '{"jsonrpc": "2.0", "id": ' + "[" * 1000 + "]" * 1000 + ', "method": "ping"}'):
    server.write(text)
    assert server.read()["error"]["code"] == -32700
server.write('{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}')
assert (refused := server.read())["error"]["code"] == -32600 and refused["id"] is None
server.write('{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"text": "' + "x" * (100 << 20) + '"}}')
assert "MiB" in server.read()["error"]["message"]
assert server.ask("tools/call", name={"a": [1]})["error"]["code"] == -32602
assert server.call("lens", path="\u0000\u001b[2J", tokens=[1])["isError"]

# Resources: documents, runs and checkpoints, and nothing else.
assert server.ask("resources/templates/list")["result"] == {"resourceTemplates": []}
with tempfile.TemporaryDirectory() as home:
    home = pathlib.Path(home)
    run = shutil.copytree(TOP / "resources/example/run", home / "runs/group/first \u00e9")
    shutil.copytree(GPT2, run / "checkpoints/step-7")
    shutil.copytree(run, home / "outside")
    (home / "secret.md").write_text("secret")
    (home / "runs/link").symlink_to(home / "outside")
    listing = Server("--runs", str(home / "runs"))
    resources = listing.ask("resources/list")["result"]["resources"]
    uris = [one["uri"] for one in resources]
    assert "relascope://documents/why.md" in uris and "relascope://runs/group/first%20%C3%A9" in uris, uris
    assert uris[-1] == "relascope://checkpoints/group/first%20%C3%A9/step-7" and not any("link" in uri for uri in uris)
    why = listing.ask("resources/read", uri="relascope://documents/why.md")["result"]["contents"][0]
    assert why["mimeType"] == "text/markdown" and why["text"] == (TOP / "resources/docs/why.md").read_text()
    first = listing.ask("resources/read", uri="relascope://runs/group/first%20%C3%A9")["result"]["contents"][0]
    assert json.loads(first["text"]) == json.loads((run / "run.json").read_text())
    assert str(run) in next(one["description"] for one in resources if "/runs/group" in one["uri"]), "the path that tools take"
    weights = json.loads(listing.ask("resources/read", uri=uris[-1])["result"]["contents"][0]["text"])
    assert weights["model"] == "GPT-2" and weights["parameters"] == 39808, weights
    for uri in ("relascope://documents/../../secret.md", f"file://{home}/secret.md", "relascope://runs/link", "relascope://runs/../outside",
                "relascope://documents/%2e%2e%2fsecret.md", "relascope://runs/group/first \u00e9", "", "relascope://checkpoints/../../x"):
        assert listing.ask("resources/read", uri=uri)["error"]["code"] == -32002, uri
    assert listing.ask("resources/read", uri=3)["error"]["code"] == -32602
    for cursor in ("x", "-1", "9" * 30):
        assert listing.ask("resources/list", cursor=cursor)["error"]["code"] == -32602
    assert listing.ask("resources/list", cursor="100000")["result"] == {"resources": []}
    for number in range(300):
        os.makedirs(home / f"runs/many/{number}")
        shutil.copy(run / "run.json", home / f"runs/many/{number}/run.json")
    seen, cursor = [], {}
    while True:
        page = listing.ask("resources/list", **cursor)["result"]
        seen += [one["uri"] for one in page["resources"]]
        assert len(page["resources"]) <= 200
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len(seen) == len(set(seen)) == len(uris) + 300
    listing.end()

# Files go below the folder for writing, and nowhere else.
with tempfile.TemporaryDirectory() as home:
    home = pathlib.Path(home)
    allowed = home / "allowed"
    allowed.mkdir()
    (home / "outside").mkdir()
    (allowed / "link").symlink_to(home / "outside")
    (allowed / "file.csv").symlink_to(home / "outside/file.csv")
    writing = Server("--write", str(allowed))
    for out, why in (("/tmp/x.csv", "is not relative"), ("../x.csv", "leads out of it"), ("a/../../x.csv", "leads out of it"), ("~/x.csv", "is not relative"),
                     ("link/x.csv", "is behind a link"), ("file.csv", "is behind a link"), ("", "is empty"), (".", "is the folder itself"),
                     ("a\u0000.csv", "is no path"), ("x" * 2000, "is no path")):
        result = writing.call("lens", path=GPT2, tokens=[1, 2], out=out)
        assert result["isError"] and why in result["content"][0]["text"], (out, result)
        for tool, arguments in (("train", {"preset": "quick", "out": out}), ("draw", {"file": "x.relaview", "out": out}), ("export", {"path": "x", "csv": out})):
            result = writing.call(tool, **arguments)
            assert result["isError"] and why in result["content"][0]["text"], (tool, out, result)
    for tool, arguments, why in (("train", {"preset": "quick"}, "out: is missing"), ("train", {"out": "a"}, "preset: is missing"),
                                 ("train", {"preset": "quick", "out": "a", "resume": "b"}, "resume: unknown option"),
                                 ("train", {"preset": "quick", "out": "a", "steps": "many"}, "steps: "), ("train", {"preset": "--resume=/x", "out": "a"}, "/--resume=/x"),
                                 ("export", {"path": "x"}, "give --csv"), ("draw", {"file": "x.txt", "out": "a.png"}, "must end in .relaview")):
        result = writing.call(tool, **arguments)
        assert result["isError"] and why in result["content"][0]["text"], (tool, result)
    assert not list((home / "outside").iterdir()) and {path.name for path in home.iterdir()} == {"allowed", "outside"}

    written = writing.call("lens", path=GPT2, tokens=[1, 2], out="tables/lens.csv")
    assert not written["isError"] and (allowed / "tables/lens.csv").read_text().startswith("after,position,"), written["content"][1:]
    trained = writing.call("train", preset="quick", out="runs/first", steps=4, set=["data.train_size=64", "data.validation_size=48", "data.test_size=16"])
    assert not trained["isError"] and trained["structuredContent"]["steps"] == 4, trained
    assert writing.call("train", preset="quick", out="runs/first", steps=4)["isError"], "a run is not trained over"
    run = allowed / "runs/first"
    exported = writing.call("export", path=str(run), csv="first.csv")
    assert not exported["isError"] and "wrote " in exported["content"][0]["text"] and (allowed / "first.csv").is_file(), exported
    (home / "x.relaview").write_text(json.dumps({"format": "relascope-view/1", "command": "parts", "subjects": [{"path": str(run)}]}))
    drawn = writing.call("draw", file=str(home / "x.relaview"), out="parts.csv")
    assert not drawn["isError"] and (allowed / "parts.csv").read_text().startswith("name,kind,layer"), drawn
    if drawing:
        picture = writing.call("inspect", path=str(run), out="map.png")
        assert not picture["isError"] and png_size(of_type(picture, "image")[0])[0] > 100 and (allowed / "map.png").exists(), picture
    # A training that is cancelled ends with its checkpoint, and the next call is answered.
    number = writing.send("tools/call", name="train", arguments={"preset": "quick", "out": "runs/second", "steps": 100000}, _meta={"progressToken": 7})
    while (message := writing.read()).get("method") != "notifications/progress":
        pass
    assert message["params"]["progressToken"] == 7
    writing.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}))
    short = writing.send("tools/call", name="parts", arguments={"path": GPT2})
    while (answer := writing.read()).get("id") != short:
        assert answer.get("method") == "notifications/progress", answer
    assert json.loads((allowed / "runs/second/run.json").read_text())["state"] == "interrupted"
    writing.end()
    assert subprocess.run([cli, "mcp", "--write", str(home / "none")], stdin=subprocess.DEVNULL, capture_output=True).returncode == 1

# Without the program that draws, numbers alone; a client that leaves in the middle of a line.
with tempfile.TemporaryDirectory() as home:
    alone = pathlib.Path(home) / "bin/relascope-cli"
    alone.parent.mkdir()
    shutil.copy(cli, alone)
    lone = Server(program=alone)
    result = lone.call("lens", path=GPT2, tokens=[1, 2])
    assert not result["isError"] and not of_type(result, "image"), result
    lone.process.stdin.write('{"jsonrpc": "2.0", "id"')
    lone.end()

# Calls wait their turn, up to a number; the same id twice does not.
for number in range(70):
    server.write(json.dumps({"jsonrpc": "2.0", "id": f"w{min(number, 68)}", "method": "tools/call", "params": {"name": "parts", "arguments": {"path": GPT2, "picture": False}}}))
answers = [server.read() for _ in range(70)]
assert all(one["id"].startswith("w") for one in answers)
assert all(one.get("error", {}).get("code") in (None, -32000, -32600) for one in answers)

server.write("")
for message in ({"method": "notifications/cancelled", "params": {"requestId": 99}}, {"method": "nothing"},
                {"method": "notifications/cancelled", "params": []}):
    server.write(json.dumps({"jsonrpc": "2.0", **message}))
assert server.ask("ping", anything=[1])["result"] == {}

with tempfile.TemporaryDirectory() as home:
    run = shutil.copytree(TOP / "resources/example/run", pathlib.Path(home) / "run")
    typed = subprocess.run([cli, "eval", run, "--split", "validation", "--json"], capture_output=True, text=True, check=True).stdout
    assert server.call("eval", path=str(run), split="validation")["structuredContent"] == json.loads(typed)
    for tool, words, typed in (
            ("info", {"path": GPT2, "outline": True}, [GPT2, "--outline"]), ("verify", {"folder": [GPT2]}, [GPT2]),
            ("compare", {"runs": [str(run)], "columns": ["run", "seed"]}, [run, "--columns", "run,seed"]), ("curves", {"runs": [str(run)]}, [run]),
            ("data", {"place": str(run), "split": "validation", "sample": 3}, [run, "--split", "validation", "--sample", "3"])):
        typed = subprocess.run([cli, tool, *typed, "--json"], capture_output=True, text=True, check=True).stdout
        result = server.call(tool, **words)
        assert not result["isError"] and result["structuredContent"] == json.loads(typed), (tool, result)
    refused = server.call("study", path=str(run))  # what is no study is not trained
    assert refused["isError"] and "is no folder of a study" in refused["content"][0]["text"], refused
    written = server.call("generate", path=GPT2, prompt="1,2,3", tokens=4, temperature=0.0)
    assert len(written["structuredContent"]["tokens"]) == 4, written
    assert json.loads(server.call("points", path=GPT2)["content"][0]["text"])[0]["axes"], "the first hook point has no axes"
    # A long one says how far it is, is not waited for once it is cancelled, and others wait their turn.
    call = {"name": "ablate", "arguments": {"path": str(run), "examples": 1000}, "_meta": {"progressToken": "a"}}
    long, short = server.send("tools/call", **call), server.send("tools/call", name="lens", arguments={"path": GPT2, "tokens": [1]})
    progress = server.read()
    assert progress["method"] == "notifications/progress" and progress["params"]["progressToken"] == "a", progress
    server.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": long}}))
    while (answer := server.read()).get("id") != short:
        assert answer.get("method") == "notifications/progress", answer
    assert not answer["result"]["isError"], answer
    # The end of the input ends one that runs.
    server.send("tools/call", **call)
    server.read()
    server.end()
print("mcp: in order")
