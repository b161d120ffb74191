"""Servers for the tests of remote stores: plain HTTP with ranges and faults on request."""

from __future__ import annotations

import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote


class FileServer:
    """Serves a folder; answers ranges ``a-b``, ``a-`` and ``-n``; can be told to fail.

    Attributes:
        faults: Called with (path, how often it was asked for); may return ``(status, seconds, cut)``.
        asked: (path, range) of every GET.
    """

    def __init__(self, folder: Path, *, ranges: bool = True) -> None:
        self.folder, self.ranges = folder, ranges
        self.faults = lambda path, count: None
        self.asked: list[tuple[str, str]] = []
        self.counts: Counter[str] = Counter()
        self.moved = ""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def do_HEAD(self):
                self.answer(body=False)

            def do_GET(self):
                self.answer(body=True)

            def answer(self, *, body):
                outer.respond(self, body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def respond(self, handler, body: bool) -> None:
        path = unquote(handler.path).lstrip("/")
        if self.moved and not path.startswith(self.moved):
            handler.send_response(301)
            handler.send_header("Location", f"/{self.moved}/{path}")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        path = path.removeprefix(f"{self.moved}/") if self.moved else path
        if body:
            self.counts[path] += 1
            self.asked.append((path, handler.headers.get("Range", "")))
        status, seconds, cut = self.faults(path, self.counts[path]) or (200, 0, 0)
        time.sleep(seconds)
        file = self.folder / path
        if status == 200 and not file.is_file():
            status = 404
        data = file.read_bytes() if status == 200 else b"no"
        size = len(data)
        span = handler.headers.get("Range", "")
        if status == 200 and span and self.ranges:
            first, _, last = span.removeprefix("bytes=").partition("-")
            start = int(first) if first else max(0, size - int(last))
            stop = min(size, int(last) + 1) if first and last else size
            if start >= size:
                status, data = 416, b""
            else:
                status, data = 206, data[start:stop]
        handler.send_response(status)
        if status == 206:
            handler.send_header("Content-Range", f"bytes {start}-{stop - 1}/{size}")
        if self.ranges:
            handler.send_header("Accept-Ranges", "bytes")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        if body:
            try:
                handler.wfile.write(data[: len(data) - cut] if cut else data)
            except (BrokenPipeError, ConnectionResetError):
                return
            if cut:
                handler.close_connection = True
