"""Redirects with the standard library. Arguments: the port, and HTTPServer,
which serves one connection at a time, or ThreadingHTTPServer."""

import http.server
import sys


class Redirect(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(301)
        self.send_header("Location", "http://localhost:1024")
        self.end_headers()


port, kind = sys.argv[1:]
getattr(http.server, kind)(("127.0.0.1", int(port)), Redirect).serve_forever()
