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
	if testing.Short() {
		t.Skip("-short: it builds dyno")
	}
	b, err := newBench(t.Context(), options{}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer b.removeBuilt()
	var mu sync.Mutex
	var got map[string]string // headers of distinct URLs
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		got[r.URL.RawQuery] = r.Header.Get("X-Token")
		mu.Unlock()
		time.Sleep(time.Millisecond) // some thousand requests show as much as all that there is time for
		io.WriteString(w, contentBody)
	}))
	defer s.Close()
	for _, r := range rows {
		if r.load.content == sameContent {
			continue
		}
		r.load.seconds, r.load.connections = 1, 2
		for _, tool := range b.toolsForRow(r) {
			mu.Lock()
			got = map[string]string{}
			mu.Unlock()
			c := tool.command(r.load, s.URL+"/")
			remove, err := c.writeScript()
			if err != nil {
				t.Fatal(err)
			}
			out, _, err := runPinned(t.Context(), nil, tool.path, c, func(context.Context, time.Time) {})
			remove()
			v := reading{}
			if err == nil && tool.parseOutput != nil {
				v, err = tool.parseOutput(out)
			}
			mu.Lock()
			if problem := wrongContent(r.load.content, tool.name, got); err != nil || v[failed] != 0 || problem != "" {
				t.Errorf("%s by %s: %v, %v: %s", r.name, tool.name, v, err, problem)
			}
			mu.Unlock()
		}
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
