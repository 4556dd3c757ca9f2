package cli

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/setting"
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
	many := peers.Run{Connections: 50, Requested: 200}
	hey := peerLoad{Run: many, flags: []string{"--timeout", "20s", "--connect-timeout", "20s",
		"--follow", "9"}} // net/http stops at the tenth request
	oha := peerLoad{Run: many, flags: []string{"--timeout", longestTimeout, "--connect-timeout", "5s"}}
	return []peer{
		{"wrk", "load a server as wrk does", wrkFlags(), false, start(wrk), loadplan.ResendNever},
		{"wrk2", "load a server as wrk2 does", wrk2Flags(), false, start(wrk), loadplan.ResendNever},
		{"ab", "load a server as ApacheBench does", abFlags(), false,
			start(peerLoad{Run: peers.Run{Connections: 1, Requested: 1, Threads: 1},
				flags: []string{"--timeout", "30s", "--http", "1.0"}}),
			loadplan.ResendUnsafe},
		{"hey", "load a server as hey does", heyFlags(), true, start(hey), loadplan.ResendSafe},
		{"oha", "load a server as oha does", ohaFlags(), false, start(oha), loadplan.ResendNever},
		{"go-meter", "load a server as go-meter does", meterFlags(), true, start(meter),
			loadplan.ResendNever},
	}
}

func helpFlags(version string) []peerFlag {
	return []peerFlag{
		{"h help", "", "", "this", func(l *peerLoad, _ string) error { l.help = true; return nil }},
		{version, "", "", "print the version", func(l *peerLoad, _ string) error {
			l.shown = true
			return nil
		}},
	}
}

func wrkFlags() []peerFlag {
	return append(helpFlags("v version"), []peerFlag{
		{"c connections", "N", "10", "connections, of all threads together", setConnections},
		{"d duration", "T", "10s", "how long", setPeerDuration},
		{"t threads", "N", "2", "threads", setThreads},
		{"s script", "FILE.lua", "", "a script in Lua", same("--script")},
		{"H header", "H", "", "a header; {again}", same("-H")},
		{"L latency", "", "", "print the distribution of latency", setDetail},
		{"T timeout", "T", "2s", "for a request", same("--timeout")},
	}...)
}

func wrk2Flags() []peerFlag {
	return append(wrkFlags(), []peerFlag{
		{"U u_latency", "", "", "the same, and latency from when requests were sent", setUncorrected},
		{"B batch_latency", "", "", "changes nothing here", unused},
		{"R rate", "N", "", "requests a second in all; wrk2 wants it", setPeerRate},
	}...)
}

func abFlags() []peerFlag {
	return append(helpFlags("V"), []peerFlag{
		{"n", "N", "1", "requests", setRequested},
		{"c", "N", "1", "connections", setConnections},
		{"t", "S", "", "seconds at most; then -n is 50000", func(l *peerLoad, v string) error {
			l.Requested = 50_000
			return setPeerDuration(l, v)
		}},
		{"s", "S", "30", "timeout in seconds", same("--timeout")},
		{"k", "", "", "keep connections", func(l *peerLoad, _ string) error {
			l.KeepAlive = true
			return l.add("-H", "Connection: Keep-Alive")
		}},
		{"H", "'K: V'", "", "a header; {again}", same("-H")},
		{"C", "K=V", "", "a cookie; the last counts", setField("Cookie")},
		{"A", "USER:PASSWORD", "", "credentials", setBasic},
		{"T", "TYPE", "text/plain", "Content-Type of the body", setKind},
		{"p", "FILE", "", "a file to POST", setBodyFile},
		{"u", "FILE", "", "a file to PUT", func(l *peerLoad, v string) error {
			l.method = "PUT"
			return setBodyFile(l, v)
		}},
		{"i", "", "", "HEAD", func(l *peerLoad, _ string) error { return setMethod(l, "HEAD") }},
		{"m", "M", "", "method", setMethod},
		{"E", "FILE", "", "our certificate", same("--cert")},
		{"B", "ADDRESS", "", "connect from there", same("--source")},
		{"l", "", "", "answers may differ in length", func(l *peerLoad, _ string) error {
			l.Varied = true
			return nil
		}},
		{"r q d S I", "", "", "change nothing here", unused},
		{"v b", "N", "", "changes nothing here", unused},
		{"X P f Z g e w x y z", "V", "", "not possible here", refused("dyno ab does not have it")},
	}...)
}

func heyFlags() []peerFlag {
	return append(helpFlags("version"), []peerFlag{
		{"n", "N", "200", "requests", setRequested},
		{"c", "N", "50", "connections", setConnections},
		{"q", "N", "", "requests a second, of each connection", func(l *peerLoad, v string) error {
			return setPeerRate(l, v)
		}},
		{"z", "T", "", "how long, instead of -n", setPeerDuration},
		{"m", "M", "GET", "method, also with a body", setMethod},
		{"H", "'K: V'", "", "a header; {again}", same("-H")},
		{"t", "S", "20", "timeout in seconds; 0: none", setTimeout("--timeout", "--connect-timeout")},
		{"A", "TYPE", "", "the header Accept", setField("Accept")},
		{"d", "TEXT", "", "body", setBodyText},
		{"D", "FILE", "", "a file as the body", setBodyFile},
		{"T", "TYPE", "text/html", "Content-Type, also without a body", setKind},
		{"U", "AGENT", "", "the header User-Agent", setField("User-Agent")},
		{"a", "USER:PASSWORD", "", "credentials", setBasic},
		{"h2", "", "", "HTTP/2", always("--http", "2")},
		{"host", "HOST", "", "the header Host", func(l *peerLoad, v string) error {
			l.host = v
			return nil
		}},
		{"disable-keepalive", "", "", "a connection for each request", always("--reconnect", "always")},
		{"disable-compression", "", "", "do not ask for gzip", setPlain},
		{"disable-redirects", "", "", "follow none (9 of a request, on the server itself)",
			func(l *peerLoad, _ string) error {
				l.replace("--follow", "0")
				return nil
			}},
		{"cpus", "N", "", "threads", setThreads},
		{"o", "csv", "", "not possible here",
			refused("dyno hey keeps no time of each request; dyno run --log FILE.csv does")},
		{"x", "PROXY", "", "not possible here", refused("dyno hey uses no proxy")},
	}...)
}

// setUncorrected prints latency from when requests were due and from when they were sent.
func setUncorrected(l *peerLoad, v string) error {
	l.Uncorrected = true
	return setDetail(l, v)
}

// setField sets the header of that name.
func setField(name string) func(*peerLoad, string) error {
	return func(l *peerLoad, v string) error {
		if at := l.headerAt(name); at >= 0 {
			l.flags[at] = name + ": " + v
			return nil
		}
		return l.add("-H", name+": "+v)
	}
}

func setPlain(l *peerLoad, _ string) error {
	l.plain = true
	return nil
}

// longestTimeout stands for no timeout.
const longestTimeout = "8784h"

// setTimeout sets timeouts; 0 is none.
func setTimeout(flags ...string) func(*peerLoad, string) error {
	return func(l *peerLoad, v string) error {
		if d, err := setting.ParseDuration(v); err == nil && d == 0 {
			v = longestTimeout
		}
		for _, flag := range flags {
			l.replace(flag, v)
		}
		return nil
	}
}

func setOutput(l *peerLoad, v string) error {
	l.output = v
	return nil
}

func ohaFlags() []peerFlag {
	return append(helpFlags("V version"), []peerFlag{
		{"n", "N", "200", "requests", setRequested},
		{"c", "N", "50", "connections", setConnections},
		{"p", "N", "1", "requests in flight at once on a connection of HTTP/2", same("--streams")},
		{"q query-per-second", "N", "", "requests a second in all", setPeerRate},
		{"z", "T", "", "how long, instead of -n", setPeerDuration},
		{"m method", "M", "GET", "method", setMethod},
		{"H", "'K: V'", "", "a header; {again}", same("-H")},
		{"t", "T", "none", "timeout", setTimeout("--timeout")},
		{"connect-timeout", "T", "5s", "for a connection", same("--connect-timeout")},
		{"A", "TYPE", "", "the header Accept", setField("Accept")},
		{"d", "TEXT", "", "body", setBodyText},
		{"D", "FILE", "", "a file as the body", setBodyFile},
		{"Z", "FILE", "", "bodies, one a line", same("--bodies")},
		{"T", "TYPE", "", "Content-Type of the body", setKind},
		{"a", "USER:PASSWORD", "", "credentials", setBasic},
		{"http-version", "V", "", "1.0, 1.1, 2 or 3", same("--http")},
		{"http2", "", "", "HTTP/2", always("--http", "2")},
		{"host", "HOST", "", "the header Host", setField("Host")},
		{"disable-keepalive", "", "", "a connection for each request", always("--reconnect", "always")},
		{"insecure", "", "", "accept any certificate", always("--insecure")},
		{"cacert", "FILE", "", "trust these certificates", same("--cacert")},
		{"cert", "FILE", "", "our certificate", same("--cert")},
		{"key", "FILE", "", "its key", same("--key")},
		{"latency-correction", "", "", "what dyno always does", setDetail},
		{"disable-compression", "", "", "ask for no compression", setPlain},
		{"r redirect", "N", "0", "redirects to follow, on the server itself", same("--follow")},
		{"o output", "FILE", "stdout", "a file for the report", setOutput},
		{"no-tui no-color w wait-ongoing-requests-after-deadline no-pre-lookup", "", "",
			"change nothing here", unused},
		{"fps worker-threads", "N", "", "change nothing here", unused},
		{"u time-unit", "U", "", "unit of the text: ns, us, ms, s, m or h", setUnit},
		{"output-format", "F", "", "text, json or quiet", setForm},
		{"j json", "", "", "JSON, as --output-format json", func(l *peerLoad, _ string) error {
			return setForm(l, "json")
		}},
		{"x burst-delay burst-rate db-url unix-socket connect-to proxy-header proxy-http-version " +
			"aws-session aws-sigv4 max-repeat dump-urls", "V", "", "not possible here",
			refused("dyno oha does not have it")},
		{"F form", "FIELD", "", "not possible here",
			refused("dyno oha does not have it; dyno run --form does")},
		{"proxy-http2 ipv6 ipv4 debug stats-success-breakdown rand-regex-url urls-from-file", "",
			"", "not possible here",
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
		{"t", "N", "4", "threads", setThreads},
		{"c", "N", "64", "connections", setConnections},
		{"d", "T", "30s", "how long", setPeerDuration},
		{"m", "M", "GET", "method", setMethod},
		{"u", "URL", "http://localhost", "where to", setPeerURL},
		{"s", "FILE", "", "bodies of POST or PUT, else paths or URLs, one a line", setSource},
		{"es", "T", "", "how long not to count at the start", func(l *peerLoad, v string) error {
			return l.add("--warmup", v)
		}},
		{"mrq", "N", "-1: no limit", "requests a second at most; a slow server gets fewer", setCap},
		{"v", "", "", "a line for each second", setDetail},
		{"reconnect", "", "", "a connection for each request", always("--reconnect", "always")},
		{"h help", "", "", "this", func(l *peerLoad, _ string) error { l.help = true; return nil }},
		{"cpuprofile", "FILE", "", "not possible here", refused("dyno go-meter does not have it")},
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
	r, err := setting.ParseRate(v)
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
		if l.body != "" { // ab sends both, if -H has another
			l.flags = append(l.flags, "-H", "Content-Type: "+cmp.Or(l.kind, "text/plain"))
		}
		l.addDefault("Accept", "*/*")
		lie(!l.KeepAlive, "as ab without -k, each request has a connection of its own, so the numbers "+
			"are mostly those of connecting")
	case "hey":
		if l.Requested > 0 && l.Duration == 0 && c > l.Requested {
			return errors.New("-n cannot be less than -c")
		}
		return l.completeHey(lie)
	case "oha":
		l.completeOha()
	case "go-meter":
		return l.completeMeter()
	}
	return nil
}

// completeHey is complete for hey.
func (l *peerLoad) completeHey(lie func(is bool, format string, args ...any)) error {
	c := int64(l.Connections)
	if l.Duration > 0 { // -n is ignored, wherever it stands
		l.Requested = 0
	}
	l.method = cmp.Or(l.method, "GET")
	l.addDefault("Content-Type", cmp.Or(l.kind, "text/html"))
	if !l.plain && l.method != "HEAD" && !l.hasHeader("Range") {
		l.addDefault("Accept-Encoding", "gzip")
	}
	if at := l.headerAt("Host"); at >= 0 {
		l.flags = slices.Delete(l.flags, at-1, at+1)
		lie(true, "hey ignores a header Host of -H, and so does dyno hey; give -host")
	}
	if l.host != "" {
		l.flags = append(l.flags, "-H", "Host: "+l.host)
	}
	l.rate *= float64(c)
	lie(l.Requested%max(c, 1) != 0, "%d requests were sent; hey sends a multiple of -c, %d",
		l.Requested, l.Requested-l.Requested%max(c, 1))
	lie(c > 500, "%d connections are kept; hey keeps 500 and opens the others again and again", c)
	lie(strings.HasPrefix(l.url, "https:"), "the certificate was verified; hey accepts any")
	return nil
}

// completeOha is complete for oha.
func (l *peerLoad) completeOha() {
	if l.Duration > 0 { // -n is ignored, wherever it stands
		l.Requested = 0
	}
	if l.Requested > 0 { // further workers have nothing to do
		l.Connections = int(min(int64(l.Connections), l.Requested))
	}
	l.method = cmp.Or(l.method, "GET")
	l.addDefault("Accept", "*/*")
	if !l.plain {
		l.addDefault("Accept-Encoding", "gzip, compress, deflate, br")
	}
	if l.kind != "" {
		l.addDefault("Content-Type", l.kind)
	}
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
	r.Host = cmp.Or(r.Header.Get("Host"), r.Host)
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", "dyno/"+loadplan.Version)
	}
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		DisableCompression: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: f.plan.TLS.Insecure}},
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
