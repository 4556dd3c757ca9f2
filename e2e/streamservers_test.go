//go:build linux

package e2e

import (
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dyno/internal/result/durations"
)

// Servers of streams in other languages, each of which logs when it wrote an event as dyno target
// does: the stream's number, when its request came, the event's number, and when it was written.
var streamServers = []real{
	{name: "Node", command: "node", pack: "nodejs", start: "server.js", log: "log.csv", files: map[string]string{"log.csv": "", "server.js": `
const http = require("http"), fs = require("fs");
const log = fs.openSync("log.csv", "a"), now = () => process.hrtime.bigint();
let streams = 0;
http.createServer((req, res) => {
	if (req.url.includes("ready")) return res.end("ready");
	const n = ++streams, arrived = now();
	res.socket.setNoDelay(true);
	res.writeHead(200, {"Content-Type": "text/event-stream"});
	let i = 0;
	const next = () => {
		if (i == 20) return res.end("data: [DONE]\n\n");
		fs.writeSync(log, [n, arrived, ++i, now()].join() + "\n");
		res.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n');
		setTimeout(next, 1 + 8 * Math.random());
	};
	setTimeout(next, 30 * Math.random());
}).listen(PORT, "127.0.0.1");
`}},
	{name: "Python", command: "python3", pack: "python3", start: "server.py", log: "log.csv", files: map[string]string{"log.csv": "", "server.py": `
import http.server, itertools, random, socket, threading, time
log, lock, streams = open("log.csv", "a", 1), threading.Lock(), itertools.count(1)
class Handler(http.server.BaseHTTPRequestHandler):
	protocol_version, disable_nagle_algorithm = "HTTP/1.1", True
	def log_message(self, *_): pass
	def do_GET(self):
		arrived = time.monotonic_ns()
		if "ready" in self.path:
			self.send_response(200); self.send_header("Content-Length", "0"); self.end_headers()
			return
		n = next(streams)
		self.send_response(200)
		self.send_header("Content-Type", "text/event-stream")
		self.send_header("Transfer-Encoding", "chunked")
		self.end_headers()
		def send(text):
			self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
		time.sleep(random.random() * 0.03)
		for i in range(20):
			with lock: log.write("%d,%d,%d,%d\n" % (n, arrived, i + 1, time.monotonic_ns()))
			send(b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n')
			time.sleep(0.001 + random.random() * 0.008)
		send(b"data: [DONE]\n\n"); send(b"")
http.server.ThreadingHTTPServer.request_queue_size = 128
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
`}},
}

// Of servers in other languages dyno sees each event that they logged, and none before it was
// written.
func TestStreamsOfOtherServers(t *testing.T) {
	t.Parallel()
	const streams, events = 40, 20
	for _, s := range streamServers {
		t.Run(s.name, func(t *testing.T) {
			l := s.launchServer(t)
			r := runDyno(t, 0, "-n", strconv.Itoa(streams), "-c", "8", "--drain", "1m", "--stream", "openai", l.url+"/").result
			checkFlawless(t, r, streams, "200")
			if r.Stream.Counted != streams*events || r.Stream.First.Count != streams {
				t.Errorf("%+v", r.Stream)
			}
			log := servedStreams(t, filepath.Join(l.dir, "log.csv"))
			checkStream(t, r.Stream.First, r.Stream.Gap, log)
			tellStream(t, r.Stream.First, r.Stream.Gap, log)
		})
	}
}

// tellStream says how far what was measured is from the server's log. On a busy machine that says
// nothing of dyno, so nothing is asserted.
func tellStream(t *testing.T, first, gap *durations.Distribution, log map[string]*served) {
	t.Helper()
	var firsts, gaps []float64
	for _, s := range log {
		firsts = append(firsts, float64(s.events[0]-s.arrived)/1e3)
		for i := range s.events[1:] {
			gaps = append(gaps, float64(s.events[i+1]-s.events[i])/1e3)
		}
	}
	slices.Sort(firsts)
	slices.Sort(gaps)
	at := func(all []float64, q float64) float64 { return all[max(int(math.Ceil(q*float64(len(all))))-1, 0)] }
	off := func(is, should float64) string {
		return fmt.Sprintf("%.2f ms of %.2f (%+.1f %%)", is/1e3, should/1e3, 100*(is/should-1))
	}
	t.Logf("first event p50 %s, p90 %s; gap p50 %s, p99 %s", off(first.P50, at(firsts, .5)),
		off(first.P90, at(firsts, .9)), off(gap.P50, at(gaps, .5)), off(gap.P99, at(gaps, .99)))
}

// Behind nginx with TLS, and without buffering, dyno sees the events one by one, as a bare reader on
// the same way does; with buffering both have them all at once, and dyno says that something
// gathers them. HTTP/2 makes no difference.
func TestStreamsBehindNginx(t *testing.T) {
	t.Parallel()
	const streams, events = 30, 20
	_, crt, key := makeCertificate(t, time.Now().Add(24*time.Hour), "127.0.0.1")
	for name, c := range map[string]struct {
		setting string // of nginx
		args    []string
	}{
		"live":         {"proxy_http_version 1.1; proxy_buffering off", []string{"-c", "5"}},
		"live, HTTP/2": {"proxy_http_version 1.1; proxy_buffering off", []string{"-c", "1", "--streams", "5", "--http", "2"}},
		"gathered":     {"proxy_http_version 1.0; proxy_buffering on", []string{"-c", "5"}}, // chunks would pass
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "served.csv")
			server := startTarget(t, "--stream", "openai", "--first", "exponential:20ms", "--gap", "constant:5ms",
				"--events", strconv.Itoa(events), "--log", file)
			proxy, port := nginx, freePort(t)
			proxy.files = maps.Clone(nginx.files)
			proxy.files["nginx.conf"] = strings.Replace(nginx.files["nginx.conf"], "\t\tlocation / {", fmt.Sprintf("\t\tlisten 127.0.0.1:%s ssl http2;\n"+
				"\t\tssl_certificate %s;\n\t\tssl_certificate_key %s;\n\t\tlocation /stream { proxy_pass %s/; %s; }\n"+
				"\t\tlocation / {", port, crt, key, server.url, c.setting), 1)
			l := proxy.launchServer(t)
			args := append(slices.Clone(c.args), "-n", strconv.Itoa(streams), "--drain", "1m", "--insecure", "--stream", "openai")
			r := runDyno(t, 0, append(args, "https://127.0.0.1:"+port+"/stream")...).result
			checkFlawless(t, r, streams, "200")
			bare := readBare(t, l.url+"/stream", streams, 5)
			server.stopCounting(t)
			s, warned := r.Stream, strings.Contains(strings.Join(r.Warnings, " "), "gathers them")
			if s.Counted != streams*events || s.Tokens != streams*events {
				t.Errorf("%+v", s)
			}
			t.Logf("%d events in %d arrivals; a bare reader had %d", s.Counted, s.Arrivals, bare)
			if gathered := name == "gathered"; gathered && !warned || gathered != (s.Arrivals <= 2*streams) || gathered != (bare <= 2*streams) {
				t.Errorf("%d events in %d arrivals, %d of a bare reader; %q", s.Counted, s.Arrivals, bare, r.Warnings)
			}
			if name == "gathered" {
				return
			}
			log := servedStreams(t, file)
			for n := range log { // those of the bare reader came behind
				if i, err := strconv.Atoi(n); err != nil || i > streams {
					delete(log, n)
				}
			}
			checkStream(t, s.First, s.Gap, log)
			tellStream(t, s.First, s.Gap, log)
		})
	}
}

// readBare reads so many streams, some at once, and returns how many reads had an event.
func readBare(t *testing.T, url string, streams, atOnce int) (arrivals int) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for range streams / atOnce {
				res, err := http.Get(url)
				if err != nil {
					t.Error(err)
					return
				}
				for b := make([]byte, 64<<10); ; {
					n, err := res.Body.Read(b)
					if strings.Contains(string(b[:n]), `"content"`) {
						mu.Lock()
						arrivals++
						mu.Unlock()
					}
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Error(err)
						break
					}
				}
				res.Body.Close()
			}
		})
	}
	all.Wait()
	return arrivals
}
