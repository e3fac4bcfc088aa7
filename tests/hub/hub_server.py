#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hub of models on this machine, for tests: hub_server.py FOLDER

FOLDER/ORG/NAME/ holds the files of a model, FOLDER/ORG/NAME@REVISION/ those of a branch. Prints its address and serves until its input ends. Weights have the SHA-256 of
their bytes as ETag and lie at another address of the same server, as on the public hub; other files have the SHA-1 of Git.
FOLDER/behave.json, read at every request, makes it misbehave:
  fail N: the next N requests are answered with 503       cut N: a body ends after N bytes, without a word
  whole N: ranges are not understood, and a body comes in pieces of N bytes
  slow N: bytes a second                                   token T: models of the ORG "gated" ask for it
  gone R: the revision R is listed and not there
  lie: longer, shorter, hash, headers, loop, file, names, json, etag, refs
FOLDER/requests.log gets a line for each request: method, path, Range and Authorization.
"""
import hashlib, json, os, sys, threading, time, urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder = sys.argv[1]
lock = threading.Lock()


def behaviour():
    try:
        with open(os.path.join(folder, "behave.json")) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def files(top):
    return sorted(os.path.relpath(os.path.join(d, f), top) for d, _, names in os.walk(top) for f in names)


def commit(top):
    digest = hashlib.sha1()
    for name in files(top):
        with open(os.path.join(top, name), "rb") as file:
            digest.update(name.encode() + file.read())
    return digest.hexdigest()


class Hub(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, headers=(), body=b""):
        self.send_response(code)
        for key, value in headers:
            self.send_header(key, value)
        if not any(key == "Content-Length" for key, _ in headers):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, code, name):
        self.answer(code, [("X-Error-Code", name)], name.encode())

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        with lock:
            b = behaviour()
            with open(os.path.join(folder, "requests.log"), "a") as log:
                log.write(f"{self.command} {self.path} {self.headers.get('Range', '-')} {self.headers.get('Authorization', '-')}\n")
            if b.get("fail", 0) > 0:
                b["fail"] -= 1
                with open(os.path.join(folder, "behave.json"), "w") as file:
                    json.dump(b, file)
                return self.refuse(503, "ServiceUnavailable")
        lie = b.get("lie", "")
        if lie == "headers":
            self.send_response(200)
            self.flush_headers()
            try:
                while True:
                    self.wfile.write(b"X-More: " + b"x" * 1000 + b"\r\n")
            except OSError:
                return
        if lie == "loop":
            return self.answer(302, [("Location", self.path)])
        parts = [p for p in urllib.parse.unquote(urllib.parse.urlparse(self.path).path).split("/") if p]
        if parts[0] == "elsewhere":
            return self.body(os.path.join(folder, *parts[1:]), b)
        api = parts[:2] == ["api", "models"]
        repo = "/".join(parts[2:4] if api else parts[:2])
        rest = parts[4:] if api else parts[2:]
        top = os.path.join(folder, *repo.split("/"))
        if repo == "old/name":  # was renamed
            return self.answer(307, [("Location", self.path.replace("old/name", "org/tiny"))])
        authorization = self.headers.get("Authorization", "")
        if ".." in parts or not os.path.isdir(top):
            return self.refuse(404 if authorization else 401, "RepoNotFound")
        if repo.startswith("gated/") and authorization != "Bearer " + b.get("token", "secret"):
            return self.refuse(403 if authorization else 401, "GatedRepo")
        tops = {"main": top}
        for other in sorted(os.listdir(os.path.dirname(top))):
            if other.startswith(os.path.basename(top) + "@"):
                tops[other.split("@", 1)[1]] = os.path.join(os.path.dirname(top), other)
        if api and rest == ["refs"]:
            branches = [{"name": name, "targetCommit": "../../escaped" if lie == "refs" else commit(at)} for name, at in tops.items()]
            return self.answer(200, [], json.dumps({"branches": branches, "tags": []}).encode())
        tops.update({commit(at): at for name, at in list(tops.items()) if name != b.get("gone")})
        tops.pop(b.get("gone"), None)
        if rest[1] not in tops:
            return self.refuse(404, "RevisionNotFound")
        top = tops[rest[1]]
        sha, repo = commit(top), os.path.relpath(top, folder)
        if api:
            names = files(top) + (["../../escaped"] if lie == "names" else [])
            body = json.dumps({"sha": sha, "siblings": [{"rfilename": n} for n in names]}).encode()
            return self.answer(200, [], body + b" " * (1 << 25) if lie == "json" else body)
        path = os.path.join(top, *rest[2:])
        if not os.path.isfile(path):
            return self.refuse(404, "EntryNotFound")
        with open(path, "rb") as file:
            data = file.read()
        git = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        headers = [("X-Repo-Commit", sha), ("ETag", f'"{git}"')]
        if path.endswith((".safetensors", ".bin")):
            sha256 = "../../escaped" if lie == "etag" else hashlib.sha256(data).hexdigest()
            to = "file:///etc/passwd" if lie == "file" else \
                f"http://{self.headers['Host']}/elsewhere/{repo}/{urllib.parse.quote('/'.join(rest[2:]))}?signature=1"
            return self.answer(302, headers + [("X-Linked-Etag", f'"{sha256}"'), ("X-Linked-Size", str(len(data))), ("Location", to)])
        self.body(path, b, headers)

    def body(self, path, b, headers=()):
        with open(path, "rb") as file:
            data = file.read()
        lie = b.get("lie", "")
        if lie == "longer":
            data += b"more"
        if lie == "shorter":
            data = data[:len(data) // 2]
        if lie == "hash":
            data = bytes(len(data))
        first, code, headers = 0, 200, list(headers)
        if not b.get("whole") and (ranged := self.headers.get("Range", "")).startswith("bytes="):
            first = int(ranged[6:].split("-")[0])
            if first >= len(data):
                return self.answer(416, [("Content-Range", f"bytes */{len(data)}")])
            code = 206
            headers.append(("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}"))
        data = data[first:]
        self.send_response(code)
        for key, value in headers + [("Content-Length", str(len(data)))]:
            self.send_header(key, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if b.get("cut", 0) and len(data) > b["cut"]:
            self.wfile.write(data[:b["cut"]])
            self.wfile.flush()
            self.connection.close()
            self.close_connection = True
            return
        step = max(1, b.get("slow", 0) // 20) if b.get("slow") else b.get("whole") or len(data) or 1
        for at in range(0, len(data), step):
            self.wfile.write(data[at:at + step])
            if b.get("slow") or b.get("whole"):
                time.sleep(0.05)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Hub)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
sys.stdin.read()
