package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// What is looked for stands at the very end of a body of 1 KiB, so that all of it is looked at.
func TestContentBody(t *testing.T) {
	var body struct {
		Orders []struct{ ID int }
		State  string
	}
	if err := json.Unmarshal([]byte(contentBody), &body); err != nil || len(contentBody) != 1<<10 ||
		len(body.Orders) < 10 || body.State != contentWord {
		t.Errorf("%v: %d bytes: %+v", err, len(contentBody), body)
	}
}

// Each tool sends what its row says, and accepts the right answer.
func TestContents(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: it builds dyno")
	}
	b, err := newBench(t.Context(), options{dyno: builtDyno(t)}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.removeBuilt() })
	for _, r := range rows {
		if r.load.content == sameContent {
			continue
		}
		r.load.seconds, r.load.connections = 1, 2
		for _, tool := range b.toolsForRow(r) {
			t.Run(r.name+" by "+tool.name, func(t *testing.T) {
				t.Parallel()
				tryContent(t, r, tool)
			})
		}
	}
}

// tryContent has a tool make a row's load, for as short a time as all tools can.
func tryContent(t *testing.T, r row, tool tool) {
	var mu sync.Mutex
	got := map[string]string{} // headers of distinct URLs
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := r.Header.Get("Authorization")
		if r.URL.Path == askedPath && !strings.HasPrefix(said, "Digest username=\"user\", realm=\"bench\"") {
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mu.Lock()
		got[r.URL.RawQuery] = r.Header.Get("X-Token")
		mu.Unlock()
		time.Sleep(5 * time.Millisecond) // some hundred requests show as much as all that there is time for
		io.WriteString(w, contentBody)
	}))
	defer s.Close()
	c := tool.command(r.load, s.URL+"/")
	remove, err := c.writeScript()
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	out, _, err := runPinned(t.Context(), nil, tool.path, c, func(context.Context, time.Time) {})
	v := reading{}
	if err == nil && tool.parseOutput != nil {
		v, err = tool.parseOutput(out)
	}
	mu.Lock()
	defer mu.Unlock()
	if problem := wrongContent(r.load.content, tool.name, got); err != nil || v[failed] != 0 || problem != "" {
		t.Errorf("%v, %v: %s", v, err, problem)
	}
}

// wrongContent is what is wrong with the URLs and headers that a tool sent; "" if nothing is.
func wrongContent(c content, tool string, got map[string]string) string {
	if tool == "dyno-fixed" {
		c = sameContent
	}
	switch {
	case c.repeats() == (len(got) > 1):
		return "all URLs are the same, or should be"
	case c != rowContent:
		return ""
	}
	for query, token := range got {
		values, _ := url.ParseQuery(query)
		number, is := strings.CutPrefix(values.Get("name"), "user")
		if !is || token != "token"+number || values.Get("n") == "" {
			return query + " with " + token
		}
	}
	return ""
}
