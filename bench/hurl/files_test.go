package main

import (
	"context"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/hurl"
	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/session"
)

// Every file of testdata passes, but those whose names begin with fails. With the real hurl,
// make compare-hurl holds dyno to that.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.hurl")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	s := &shop{}
	s.take()
	server := httptest.NewServer(s)
	defer server.Close()
	for _, file := range files {
		r := runFile(t, file, server)
		fails := strings.HasPrefix(filepath.Base(file), "fails")
		if t1 := r.Scenario; t1.Started != 1 || (t1.Completed == 1) == fails {
			t.Errorf("%s: %d started, %d completed: %v", file, t1.Started, t1.Completed, r.Failures)
		}
		if len(s.take()) == 0 {
			t.Errorf("%s: nothing was sent", file)
		}
	}
}

// runFile runs a file once.
func runFile(t *testing.T, file string, server *httptest.Server) *loadresult.Result {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := hurl.Parse(file, string(text))
	if err != nil {
		t.Fatal(err)
	}
	c := session.Config{Files: []*hurl.File{f}, Variables: []session.Variable{{Name: "base", Value: server.URL}},
		Read: func(_, name string) ([]byte, error) { return os.ReadFile(filepath.Join("testdata", name)) }}
	if c.Origin, err = session.ParseOrigin(server.URL); err != nil {
		t.Fatal(err)
	}
	variables, err := os.ReadFile("testdata/variables.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(variables)) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), "="); found {
			c.Variables = append(c.Variables, session.Variable{Name: name, Value: value})
		}
	}
	m, err := session.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	p := loadplan.DefaultPlan()
	at := netip.MustParseAddrPort(strings.TrimPrefix(server.URL, "http://"))
	p.Target = loadplan.Target{URL: server.URL, Host: at.Addr().String(), Port: at.Port()}
	p.Connections, p.Threads, p.Requested, p.Duration = 1, 1, 1, 0
	p.Drain = loadplan.Seconds(time.Minute)
	m.SetPlan(&p)
	r, err := load.Run(context.Background(), p, func(loadresult.Interval) {})
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return r
}
