package report

import (
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/redact"
	"dyno/internal/result"
	"dyno/internal/view/reporttest"
)

// A command that repeats a run connects to where the run did, which the URL alone may
// not say.
func TestRepeatingConnects(t *testing.T) {
	for _, test := range []struct {
		target loadplan.Target
		want   string // before the URL; "": nothing
	}{
		{loadplan.Target{URL: "http://Host/a", Host: "host", Port: 80}, ""},
		{loadplan.Target{URL: "https://host", TLS: true, Host: "host", Port: 443}, ""},
		{loadplan.Target{URL: "fcgi://[::1]:9000/", FastCGI: true, Host: "::1", Port: 9000}, ""},
		{loadplan.Target{URL: "http+unix:///run/a.sock:/", Unix: "/run/a.sock"}, ""},
		{loadplan.Target{URL: "http://host/", Host: "127.0.0.1", Port: 8080}, "--connect-to 127.0.0.1:8080 "},
		{loadplan.Target{URL: "https://host/", TLS: true, Host: "host", Port: 8443}, "--connect-to host:8443 "},
		{loadplan.Target{URL: "http://host/", Host: "::1", Port: 80}, "--connect-to '[::1]:80' "},
	} {
		p := loadplan.DefaultPlan()
		p.Target, p.Requests = test.target, []loadplan.Request{{}}
		line, _ := repeatCommand(p, "dyno", "run")
		if !strings.Contains(line, test.want) || (test.want == "") == strings.Contains(line, "--connect-to") {
			t.Errorf("%s at %s:%d: %s", test.target.URL, test.target.Host, test.target.Port, line)
		}
	}
}

// repeatable is of a server that was watched, and of an objective that ended the run.
func repeatable() *result.Result {
	r := reporttest.Watched()
	r.Server.Watch = []string{"nginx", "my server", "1234", "db@agent1"}
	r.Objectives = []result.Outcome{{Expr: "p99<1ms", Aborted: new(1.5)}}
	return r
}

// The same again watches the same server, and says what it cannot promise.
func TestRepeatingWatches(t *testing.T) {
	s := RunSentences(repeatable())
	for _, want := range []string{"--watch nginx --watch 'my server' --watch 1234 --watch db@agent1 ",
		"--slo 'p99<1ms' --abort-on-slo "} {
		if !strings.Contains(s.Command, want) {
			t.Errorf("it lacks %q: %s", want, s.Command)
		}
	}
	if s.Lost == "" {
		t.Error("a process ID can be promised")
	}
	if again := RunSentences(reporttest.Closed()); strings.Contains(again.Command, "--watch") || again.Lost != "" {
		t.Errorf("of a server that was not watched: %q, lost %q", again.Command, again.Lost)
	}
}

// Requests that are stored apart are named by their file, and secrets of all of them are missing.
func TestRepeatingFromData(t *testing.T) {
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://host/", Host: "host", Port: 80}
	p.Requests = []loadplan.Request{{Request: proto.Request{Method: "GET", Path: "/",
		Header: []proto.Field{{Name: "Authorization", Value: redact.Plain}}}}}
	p.Data = &loadplan.Data{Requests: 1000, File: "/home/a b/x.jsonl"}
	line, lost := repeatCommand(p, "dyno", "run")
	if !strings.Contains(line, "--requests-file '/home/a b/x.jsonl' http://host/") {
		t.Errorf("%s\n%s", line, lost)
	}
	p.Data.File = ""
	_, unnamed := repeatCommand(p, "dyno", "run")
	book := reporttest.Phrasebook{}
	book.Collect("from a file", reporttest.Phrases("lost", lost))
	book.Collect("from files", reporttest.Phrases("lost", unnamed))
	golden(t, "command.sentences", book.Text())
}
