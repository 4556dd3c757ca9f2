package cli

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/view/peers"
)

// allPeers are the tools as which dyno can act. If a connection is lost before an answer, wrk, wrk2
// and oha count an error and send the next request; ab takes that for the end of an idle connection
// and sends the request again, whatever its method; hey does so as net/http does, which sends a
// request of a safe method again.
func allPeers() []peer {
	start := func(l peerLoad) func() *peerLoad {
		return func() *peerLoad { copied := l; return &copied }
	}
	wrk := peerLoad{Run: peers.Run{Threads: 2, Connections: 10, Duration: 10 * time.Second},
		flags: []string{"--timeout", "2s"}}
	meter := peerLoad{Run: peers.Run{Threads: 4, Connections: 64, Duration: 30 * time.Second},
		url: "http://localhost"}
	many := peerLoad{Run: peers.Run{Connections: 50, Requested: 200}}
	return []peer{
		{"wrk", "load a server as wrk does", wrkFlags(), false, start(wrk), loadplan.ResendNever},
		{"wrk2", "load a server as wrk2 does", wrk2Flags(), false, start(wrk), loadplan.ResendNever},
		{"ab", "load a server as ApacheBench does", abFlags(), false,
			start(peerLoad{Run: peers.Run{Connections: 1, Requested: 1, Threads: 1},
				flags: []string{"--timeout", "30s", "--http", "1.0", "-H", "Accept: */*"}}),
			loadplan.ResendUnsafe},
		{"hey", "load a server as hey does", heyFlags(), true, start(many), loadplan.ResendSafe},
		{"oha", "load a server as oha does", ohaFlags(), false, start(many), loadplan.ResendNever},
		{"go-meter", "load a server as go-meter does", meterFlags(), true, start(meter),
			loadplan.ResendNever},
	}
}

func helpFlags(version string) []peerFlag {
	return []peerFlag{
		{"h help", "", "this", func(l *peerLoad, _ string) error { l.help = true; return nil }},
		{version, "", "print the version", func(l *peerLoad, _ string) error {
			l.shown = true
			return nil
		}},
	}
}

func wrkFlags() []peerFlag {
	return append(helpFlags("v version"), []peerFlag{
		{"c connections", "N", "connections, of all threads together (10)", setConnections},
		{"d duration", "T", "how long (10s)", setPeerDuration},
		{"t threads", "N", "threads (2)", setThreads},
		{"s script", "FILE.lua", "a script in Lua", same("--script")},
		{"H header", "H", "a header; may be repeated", same("-H")},
		{"L latency", "", "print the distribution of latency", setDetail},
		{"T timeout", "T", "for a request (2s)", same("--timeout")},
	}...)
}

func wrk2Flags() []peerFlag {
	return append(wrkFlags(), []peerFlag{
		{"U u_latency", "", "the same, and latency from when requests were sent", setUncorrected},
		{"B batch_latency", "", "changes nothing here", unused},
		{"R rate", "N", "requests a second in all; wrk2 wants it", setPeerRate},
	}...)
}

func abFlags() []peerFlag {
	return append(helpFlags("V"), []peerFlag{
		{"n", "N", "requests (1)", setRequested},
		{"c", "N", "connections (1)", setConnections},
		{"t", "S", "seconds at most; then -n is 50000", func(l *peerLoad, v string) error {
			l.Requested = 50_000
			return setPeerDuration(l, v)
		}},
		{"s", "S", "timeout in seconds (30)", same("--timeout")},
		{"k", "", "keep connections", func(l *peerLoad, _ string) error {
			l.KeepAlive = true
			return l.add("-H", "Connection: Keep-Alive")
		}},
		{"H", "'K: V'", "a header; may be repeated", same("-H")},
		{"C", "K=V", "a cookie", setField("Cookie")},
		{"A", "USER:PASSWORD", "credentials", setBasic},
		{"T", "TYPE", "Content-Type of the body (text/plain)", setKind},
		{"p", "FILE", "a file to POST", setBodyFile},
		{"u", "FILE", "a file to PUT", func(l *peerLoad, v string) error {
			l.method = "PUT"
			return setBodyFile(l, v)
		}},
		{"i", "", "HEAD", func(l *peerLoad, _ string) error { return setMethod(l, "HEAD") }},
		{"m", "M", "method", setMethod},
		{"E", "FILE", "our certificate", same("--cert")},
		{"B", "ADDRESS", "connect from there", same("--source")},
		{"r l q d S I", "", "change nothing here", unused},
		{"v b", "N", "changes nothing here", unused},
		{"X P f Z g e w x y z", "V", "not possible here", refused("dyno ab does not have it")},
	}...)
}

func heyFlags() []peerFlag {
	return append(helpFlags("version"), []peerFlag{
		{"n", "N", "requests (200)", setRequested},
		{"c", "N", "connections (50)", setConnections},
		{"q", "N", "requests a second, of each connection", func(l *peerLoad, v string) error {
			return setPeerRate(l, v)
		}},
		{"z", "T", "how long, instead of -n", setPeerDuration},
		{"m", "M", "method (GET)", setMethod},
		{"H", "'K: V'", "a header; may be repeated", same("-H")},
		{"t", "S", "timeout in seconds (20); 0: none", setTimeout},
		{"A", "TYPE", "the header Accept", setField("Accept")},
		{"d", "TEXT", "body", setBodyText},
		{"D", "FILE", "a file as the body", setBodyFile},
		{"T", "TYPE", "Content-Type of the body (text/html)", setKind},
		{"U", "AGENT", "the header User-Agent", setField("User-Agent")},
		{"a", "USER:PASSWORD", "credentials", setBasic},
		{"h2", "", "HTTP/2", always("--http", "2")},
		{"host", "HOST", "the header Host", setField("Host")},
		{"disable-keepalive", "", "a connection for each request", always("--reconnect", "always")},
		{"disable-compression disable-redirects", "", "change nothing here", unused},
		{"cpus", "N", "threads", setThreads},
		{"o", "csv", "not possible here",
			refused("dyno hey keeps no time of each request; dyno run --log FILE.csv does")},
		{"x", "PROXY", "not possible here", refused("dyno hey uses no proxy")},
	}...)
}

// setUncorrected prints latency from when requests were due and from when they were sent.
func setUncorrected(l *peerLoad, v string) error {
	l.Uncorrected = true
	return setDetail(l, v)
}

// setField adds a header of that name.
func setField(name string) func(*peerLoad, string) error {
	return func(l *peerLoad, v string) error { return l.add("-H", verbatim(name+": "+v)) }
}

// setTimeout sets a timeout; 0 is none.
func setTimeout(l *peerLoad, v string) error {
	if d, err := parseDuration(v); err == nil && d == 0 {
		v = "8784h" // the longest
	}
	l.replace("--timeout", v)
	return nil
}

func ohaFlags() []peerFlag {
	return append(helpFlags("V version"), []peerFlag{
		{"n", "N", "requests (200)", setRequested},
		{"c", "N", "connections (50)", setConnections},
		{"p", "N", "requests in flight at once on a connection of HTTP/2", same("--streams")},
		{"q query-per-second", "N", "requests a second in all", setPeerRate},
		{"z", "T", "how long, instead of -n", setPeerDuration},
		{"m method", "M", "method (GET)", setMethod},
		{"H", "'K: V'", "a header; may be repeated", same("-H")},
		{"t", "T", "timeout", setTimeout},
		{"connect-timeout", "T", "for a connection (5s)", same("--connect-timeout")},
		{"A", "TYPE", "the header Accept", setField("Accept")},
		{"d", "TEXT", "body", setBodyText},
		{"D", "FILE", "a file as the body", setBodyFile},
		{"Z", "FILE", "bodies, one a line", same("--bodies")},
		{"T", "TYPE", "Content-Type of the body", setKind},
		{"a", "USER:PASSWORD", "credentials", setBasic},
		{"http-version", "V", "1.0, 1.1, 2 or 3", same("--http")},
		{"http2", "", "HTTP/2", always("--http", "2")},
		{"host", "HOST", "the header Host", setField("Host")},
		{"disable-keepalive", "", "a connection for each request", always("--reconnect", "always")},
		{"insecure", "", "accept any certificate", always("--insecure")},
		{"cacert", "FILE", "trust these certificates", same("--cacert")},
		{"cert", "FILE", "our certificate", same("--cert")},
		{"key", "FILE", "its key", same("--key")},
		{"latency-correction", "", "what dyno always does", setDetail},
		{"no-tui no-color disable-compression w wait-ongoing-requests-after-deadline no-pre-lookup", "",
			"change nothing here", unused},
		{"fps r redirect worker-threads", "N", "change nothing here", unused},
		{"u time-unit", "U", "unit of the text: ns, us, ms, s, m or h", setUnit},
		{"output-format", "F", "text, json or quiet", setForm},
		{"j json", "", "JSON, as --output-format json", func(l *peerLoad, _ string) error {
			return setForm(l, "json")
		}},
		{"x burst-delay burst-rate o output db-url unix-socket connect-to", "V", "not possible here",
			refused("dyno oha does not have it")},
		{"F form rand-regex-url urls-from-file", "", "not possible here",
			refused("dyno oha does not have it; see dyno help run")},
	}...)
}

func setUnit(l *peerLoad, v string) error {
	if all := peers.OhaUnits(); !slices.Contains(all, v) {
		return fmt.Errorf("%q is not one of %s", v, strings.Join(all, ", "))
	}
	l.Unit = v
	return nil
}

func setForm(l *peerLoad, v string) error {
	switch v {
	case "text":
		v = ""
	case "json", "quiet":
	case "csv":
		return errors.New("dyno oha keeps no time of each request; dyno run --log FILE.csv does")
	default:
		return fmt.Errorf("%q is not one of text, json, quiet", v)
	}
	l.Form = v
	return nil
}

func meterFlags() []peerFlag {
	return []peerFlag{
		{"t", "N", "threads (4)", setThreads},
		{"c", "N", "connections (64)", setConnections},
		{"d", "T", "how long (30s)", setPeerDuration},
		{"m", "M", "method (GET)", setMethod},
		{"u", "URL", "where to (http://localhost)", setPeerURL},
		{"s", "FILE", "bodies of POST or PUT, else paths or URLs, one a line", setSource},
		{"es", "T", "how long not to count at the start", func(l *peerLoad, v string) error {
			return l.add("--warmup", v)
		}},
		{"mrq", "N", "requests a second at most; a slow server gets fewer (-1: no limit)", setCap},
		{"v", "", "a line for each second", setDetail},
		{"reconnect", "", "a connection for each request", always("--reconnect", "always")},
		{"h help", "", "this", func(l *peerLoad, _ string) error { l.help = true; return nil }},
		{"cpuprofile", "FILE", "not possible here", refused("dyno go-meter does not have it")},
	}
}

// setSource sets the file of bodies or URLs, which the method tells apart.
func setSource(l *peerLoad, v string) error {
	l.body = v
	return nil
}

// setCap sets the limit of a closed workload; -1 is none.
func setCap(l *peerLoad, v string) error {
	if v == "-1" {
		l.capped = 0
		return nil
	}
	r, err := parseRate(v)
	l.capped = r.PerSecond()
	return err
}

// complete sets what follows from the flags together, and what the other tool would have done.
func (l *peerLoad) complete() error {
	lie := func(is bool, format string, args ...any) {
		if is {
			l.lies = append(l.lies, fmt.Sprintf(format, args...))
		}
	}
	c := int64(l.Connections)
	switch l.Tool {
	case "wrk", "wrk2":
		if l.Connections < l.Threads {
			return errors.New("number of connections must be >= threads")
		}
		if l.Tool == "wrk2" && l.rate == 0 {
			return errors.New("wrk2 needs a rate: -R N")
		}
	case "ab":
		if l.Requested > 0 && c > l.Requested {
			return errors.New("cannot use concurrency level greater than total number of requests")
		}
		if l.body != "" && l.kind == "" {
			l.kind = "text/plain"
		}
		lie(!l.KeepAlive, "as ab without -k, each request has a connection of its own, so the numbers "+
			"are mostly those of connecting")
	case "hey", "oha":
		if l.Duration > 0 { // -n is ignored, wherever it stands
			l.Requested = 0
		}
		if l.Requested > 0 && c > l.Requested {
			return errors.New("-n cannot be less than -c")
		}
	case "go-meter":
		return l.completeMeter()
	}
	if l.Tool != "hey" {
		return nil
	}
	if l.body != "" && l.kind == "" {
		l.kind = "text/html"
	}
	l.rate *= float64(c)
	lie(l.Requested%max(c, 1) != 0, "%d requests were sent; hey sends a multiple of -c, %d",
		l.Requested, l.Requested-l.Requested%max(c, 1))
	lie(c > 500, "%d connections are kept; hey keeps 500 and opens the others again and again", c)
	lie(strings.HasPrefix(l.url, "https:"), "the certificate was verified; hey accepts any")
	return nil
}

// completeMeter is complete for go-meter.
func (l *peerLoad) completeMeter() error {
	file := l.body
	l.body = ""
	l.Threads = min(l.Threads, l.Connections)
	switch posts := l.method == "POST" || l.method == "PUT"; {
	case posts && file == "":
		return fmt.Errorf("%s needs -s, a file of bodies", l.method)
	case posts:
		l.flags = append(l.flags, "--bodies", file)
	case file != "":
		l.flags = append(l.flags, "--urls", file)
	}
	l.lies = append(l.lies, "one request at a time is in flight on a connection; go-meter sends "+
		"up to 120 without waiting, and times the gaps between answers")
	return nil
}

// askDocument asks for the first request once before the load, for what ab shows of the answer.
func askDocument(f *runFlags) (d peers.Document) {
	first := f.plan.Requests[0]
	r, err := http.NewRequest(first.Method, f.plan.Target.URL, strings.NewReader(string(first.Body)))
	if err != nil {
		return d
	}
	for _, h := range first.Header {
		r.Header.Add(h.Name, h.Value)
	}
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: f.plan.TLS.Insecure}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		return d
	}
	defer answer.Body.Close()
	d.Server = answer.Header.Get("Server")
	d.Length, _ = io.Copy(io.Discard, answer.Body) // what came before an error counts
	return d
}
