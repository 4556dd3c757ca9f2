package run

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fairness"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/workload"
	"dyno/internal/result"
)

// answering starts a server that says body, and returns its URL of that scheme.
func answering(t *testing.T, scheme, body string) string {
	t.Helper()
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(body)) })
	if scheme == "fcgi" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go fcgi.Serve(l, h)
		return "fcgi://" + l.Addr().String() + "/"
	}
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return scheme + strings.TrimPrefix(s.URL, "http") + "/"
}

// checked is an experiment of servers that run already, up to the end of its check. It returns the
// plans of its loads by the URL's scheme, and "http 2" of HTTP/2 at an http URL.
func checked(t *testing.T, more string, urls ...string) (*lab.Record, map[string]loadplan.Plan, error) {
	t.Helper()
	b := newTestBench(t)
	b.rates["127.0.0.1"] = 100
	text := "version: 1\nname: x\ndesign: {rounds: 1, warmup: {min: 0, max: 0}, measure: 1s, " +
		"cooldown: 0, metrics: [throughput]}\nlevels: [{name: c1, connections: 1}]\n" + more +
		"variants:\n"
	for i, url := range urls {
		text += "  v" + string(rune('0'+i)) + ": {url: '" + url + "'}\n"
	}
	l := b.lab(filepath.Join(t.TempDir(), "out"), text)
	l.Start, l.Ask = (&Stage{Clients: experiment.Clients{Count: 1}}).Start, fairness.Ask
	plans := map[string]loadplan.Plan{}
	l.Load = func(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (*result.Result, error) {
		scheme, _, _ := strings.Cut(p.Target.URL, "://")
		if scheme == "http" && p.OnlyHTTP2() {
			scheme = "http 2"
		}
		plans[scheme] = p
		return b.load(ctx, p, each)
	}
	r, err := l.Run(context.Background())
	return r, plans, err
}

// Variants that speak HTTP/2 without TLS, or FastCGI, are checked as those of HTTP/1.1 are.
func TestCheckOfProtocols(t *testing.T) {
	for _, scheme := range []string{"http", "h2c", "fcgi"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			testCheckOf(t, scheme)
		})
	}
}

func testCheckOf(t *testing.T, scheme string) {
	same, also := answering(t, scheme, "Hello World\n"), answering(t, scheme, "Hello World\n")
	other := answering(t, scheme, "hello world\n")
	r, plans, err := checked(t, "", same, also, other)
	if err != nil {
		t.Fatalf("%s: %v", scheme, err)
	}
	for _, a := range r.Arms {
		if unfit := a.Name == "v2"; (a.Unfit != "") != unfit ||
			unfit && !strings.Contains(a.Unfit, "body is sha256") {
			t.Errorf("%s: %s: %q", scheme, a.Name, a.Unfit)
		}
	}
	for _, trial := range r.Trials {
		if trial.Failure != nil {
			t.Errorf("%s: %+v", scheme, trial.Failure)
		}
		for _, reason := range trial.Reasons {
			if strings.Contains(reason.Says, "answered otherwise") {
				t.Errorf("%s: %s", scheme, reason.Says)
			}
		}
	}
	p := plans[scheme]
	if p.OnlyHTTP2() != (scheme == "h2c") || p.Target.FastCGI != (scheme == "fcgi") {
		t.Errorf("%s: loaded as %+v", scheme, p.Target)
	}
}

// The plan of each protocol is one that the generator takes, with CPUs of its own where it can have
// them.
func TestPlanOfProtocols(t *testing.T) {
	l := newTestBench(t).lab(filepath.Join(t.TempDir(), "out"), two)
	for url, http := range map[string]string{"https://h/": "2", "https://h2/": "3", "http://h/": "2",
		"h2c://h/": "auto", "fcgi://h:9/": "auto", "fcgi+unix:///s:/": "auto"} {
		level := l.Experiment.Levels[0]
		level.HTTP = http
		p, err := workload.Plan(l.Experiment, new(workload.Inputs), level, experiment.Workload{}, url, []int{0})
		if err != nil || len(p.CPUs) == 0 != p.OnlyHTTP3() || p.OnlyHTTP3() != (http == "3") {
			t.Errorf("%s: %v, CPUs %v", url, err, p.CPUs)
		}
	}
}

// Another protocol is a difference with a name, which can be allowed.
func TestCheckAcrossProtocols(t *testing.T) {
	t.Parallel()
	urls := []string{answering(t, "http", "Hello World\n"), answering(t, "h2c", "Hello World\n")}
	_, _, err := checked(t, "", urls...)
	if !errors.Is(err, ErrNothingLeft) || !strings.Contains(err.Error(),
		"version is HTTP/2 where v0 has HTTP/1.1") ||
		!strings.Contains(err.Error(), "to allow that version may differ, write fairness: {allow: [server, date, version]}") {
		t.Errorf("%v", err)
	}
	r, plans, err := checked(t, "fairness: {allow: [server, date, version]}\n", urls...)
	if err != nil || len(plans) != 2 || len(r.Fairness.Violations()) != 0 {
		t.Errorf("%v, %d plans, %+v", err, len(plans), r.Fairness)
	}
}

// A variant has a version of HTTP of its own, in the check as in its loads; the other has the level's.
func TestCheckOfOwnHTTP(t *testing.T) {
	t.Parallel()
	url := answering(t, "http", "Hello World\n")
	own := url + "', http: '2"
	_, _, err := checked(t, "", url, own)
	if !errors.Is(err, ErrNothingLeft) || !strings.Contains(err.Error(),
		"version is HTTP/2 where v0 has HTTP/1.1") {
		t.Errorf("%v", err)
	}
	r, plans, err := checked(t, "fairness: {allow: [server, date, version]}\n", url, own)
	if err != nil || len(r.Fairness.Violations()) != 0 || len(plans) != 2 {
		t.Fatalf("%v, %d plans, %+v", err, len(plans), r.Fairness)
	}
	if one := plans["http"]; one.OnlyHTTP2() || len(r.Ceilings) != 0 {
		t.Errorf("the first is loaded over HTTP/%s; ceilings %v", one.HTTP, r.Ceilings)
	}
	for _, trial := range r.Trials {
		if trial.Failure != nil {
			t.Errorf("%+v", trial.Failure)
		}
	}
}

// A server that does not speak what its URL says is named, with its address.
func TestCheckOfWrongProtocol(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			go func() {
				io.Copy(io.Discard, c)
				c.Close()
			}()
		}
	}()
	good, bad := answering(t, "fcgi", "a"), "fcgi://"+l.Addr().String()+"/"
	_, _, err = checked(t, "", good, bad)
	for _, want := range []string{`"v1" is not tested`, bad + " over FastCGI", "is this an http:// server?"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
