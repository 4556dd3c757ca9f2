package repeat

import (
	"encoding/json"
	"errors"
	"flag"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/redact"
	"dyno/internal/view/reporttest"
)

// make goldens sets it, for every package that has goldens.
var update = flag.Bool("update", false, "write the golden files")

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
		line, _ := Command(p, "dyno", "run")
		if !strings.Contains(line, test.want) || (test.want == "") == strings.Contains(line, "--connect-to") {
			t.Errorf("%s at %s:%d: %s", test.target.URL, test.target.Host, test.target.Port, line)
		}
	}
}

// A password that a result does not hold is missing in the command, and that is said.
func TestRepeatingThroughAProxy(t *testing.T) {
	p := loadplan.DefaultPlan()
	p.Target, p.Requests = loadplan.Target{URL: "http://host/", Host: "host", Port: 80}, []loadplan.Request{{}}
	for proxy, want := range map[string]string{"http://proxy:3128": "",
		"http://u:" + redact.Plain + "@proxy:3128": "what is secret in --proxy was not kept"} {
		p.Proxy = proxy
		line, lost := Command(p, "dyno", "run")
		if !strings.Contains(line, "--proxy ") || !strings.Contains(line, "@proxy:3128") == strings.Contains(proxy, "@") || lost != want {
			t.Errorf("%s: %s, lost %q", proxy, line, lost)
		}
		if ask := AskCommand(p); !strings.HasPrefix(ask, "curl -v --proxy ") {
			t.Errorf("%s: %s", proxy, ask)
		}
	}
}

// Requests that are stored apart are named by their file, and secrets of all of them are missing.
func TestRepeatingFromData(t *testing.T) {
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://host/", Host: "host", Port: 80}
	p.Requests = []loadplan.Request{{Request: proto.Request{Method: "GET", Path: "/",
		Header: []proto.Field{{Name: "Authorization", Value: redact.Plain}}}}}
	p.Data = &loadplan.Data{Requests: 1000, File: "/home/a b/x.jsonl"}
	line, lost := Command(p, "dyno", "run")
	if !strings.Contains(line, "--requests-file '/home/a b/x.jsonl' http://host/") {
		t.Errorf("%s\n%s", line, lost)
	}
	p.Data.File = ""
	_, unnamed := Command(p, "dyno", "run")
	p.Requests, p.Data = nil, &loadplan.Data{Requests: 1, File: "/home/a b/x.jsonl"}
	if line, lost := Command(p, "dyno", "run"); !strings.Contains(line, "--requests-file '/home/a b/x.jsonl' http://host/") {
		t.Errorf("of a request that is too long for a result: %s\n%s", line, lost)
	}
	p.Data.File = ""
	_, alone := Command(p, "dyno", "run")
	book := reporttest.Phrasebook{}
	book.Collect("from a file", reporttest.Phrases("lost", lost))
	book.Collect("from files", reporttest.Phrases("lost", unnamed))
	book.Collect("one, from a file", reporttest.Phrases("lost", alone))
	reporttest.Golden(t, "command.sentences", book.Text(), *update)
}

// A body that a result does not hold is said to be missing; of a run that has just ended, too,
// whose plan still has it. A body that it holds is in the command.
func TestRepeatingLongBodies(t *testing.T) {
	for body, want := range map[string]string{
		strings.Repeat("some words. ", 1000): "the body of 12.0 kB, of which a result has only the SHA-256",
		"\xff":                               "the body of 1 B, of which a result has only the SHA-256",
		"some words":                         "",
	} {
		p := loadplan.DefaultPlan()
		p.Target = loadplan.Target{URL: "http://host/", Host: "host", Port: 80}
		p.Requests = []loadplan.Request{{Name: "POST /", Weight: 1,
			Request: proto.Request{Method: "POST", Authority: "host", Path: "/", Body: []byte(body)}}}
		b, err := json.Marshal(p)
		var stored loadplan.Plan
		if err = errors.Join(err, json.Unmarshal(b, &stored)); err != nil {
			t.Fatal(err)
		}
		line, lost := Command(p, "dyno", "run")
		again, lostAgain := Command(stored, "dyno", "run")
		has := "-b 'some words'"
		if want != "" {
			has = "-X POST http"
		}
		if lost != want || lostAgain != want || line != again || !strings.Contains(line, has) {
			t.Errorf("%d bytes: %.200s\n%s\n%.200s\n%s", len(body), line, lost, again, lostAgain)
		}
	}
}
