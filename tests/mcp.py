#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Talks to `relascope-cli mcp` as an agent does: versions, the reviewed list of tools (tests/fixtures/mcp_tools.json), answers
that are those of the command line, progress, cancellation, and messages that are none.

usage: mcp.py FOLDER_OF_RELASCOPE_CLI [--write]   --write: writes the list of tools anew, for a review
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
TOOLS = TOP / "tests/fixtures/mcp_tools.json"
GPT2 = str(TOP / "tests/fixtures/golden/public/gpt2_tied")
cli = pathlib.Path(sys.argv[1]) / "relascope-cli"


class Server:
    def __init__(self):
        self.process = subprocess.Popen([cli, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
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


server = Server()
for wanted, given in (("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-11-25"), ("1999-01-01", "2025-11-25")):
    begun = server.ask("initialize", protocolVersion=wanted, capabilities={}, clientInfo={"name": "test", "version": "1"})["result"]
    assert begun["protocolVersion"] == given and begun["serverInfo"]["name"] == "relascope", begun
server.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
assert server.ask("ping")["result"] == {}

tools = server.ask("tools/list")["result"]["tools"]
if "--write" in sys.argv:
    TOOLS.write_text(json.dumps(tools, indent=1, ensure_ascii=False) + "\n")
assert tools == json.loads(TOOLS.read_text()), "the list of tools is another; write it anew with --write and read the difference"
places = {tool["name"]: tool["inputSchema"]["required"] for tool in tools}
assert places["lens"] == places["info"] == places["study"] == ["path"] and places["compare"] == ["runs"], places

# The same as on the command line.
for tool, arguments, words in (
        ("lens", {"tokens": [1, 2, 3], "top": 3}, ["--tokens", "1,2,3", "--top", "3"]),
        ("inspect", {"tokens": [1, 2, 3], "kind": "attention-sa", "layer": 2}, ["--tokens", "1,2,3", "--kind", "attention-sa", "--layer", "2"]),
        ("dictionary", {"kind": "attention-sa", "layer": 1, "index": 1, "edits": ["layer 2 sensory head 1 zero"]},
         ["--kind", "attention-sa", "--layer", "1", "--index", "1", "--edit", "layer 2 sensory head 1 zero"])):
    typed = subprocess.run([cli, tool, GPT2, *words, "--json"], capture_output=True, text=True, check=True).stdout
    result = server.call(tool, path=GPT2, **arguments)
    assert not result["isError"], result
    # A terminal's text has control characters escaped, which is the same JSON.
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"] == json.loads(typed), tool

# What cannot be answered is said in a sentence.
for arguments, sentence in (({"path": GPT2}, "--image: a checkpoint has no data"), ({}, "path: is missing"),
                            ({"path": GPT2, "tokens": "1,2"}, "tokens: "), ({"path": GPT2, "top": 0}, "top: 0 is below 1"),
                            ({"path": GPT2, "tokesn": [1]}, "tokesn: unknown option 'tokesn'"),
                            ({"path": "/nowhere", "tokens": [1]}, "/nowhere"), ({"path": [], "tokens": [1]}, "path: is no text"),
                            ({"path": GPT2, "edits": "x"}, "edits: is no list of texts")):
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
