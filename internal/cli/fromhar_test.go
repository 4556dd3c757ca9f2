package cli

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"dyno/internal/view/page/pagetest"
)

// shopPage is a page that asks for nine things more, three of them by scripts, and for two of another
// host.
const shopPage = `<!doctype html><title>shop</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css"><img src="/a.png"><img src="/b.png?size=2"><script src="/app.js"></script>
<iframe src="/frame"></iframe><img src="http://localhost:%s/pixel.gif"><img src="http://localhost:%[1]s/again.gif">
<script>Promise.all([fetch("/api/items?page=1"),
fetch("/api/login?token=t0ken", {method: "POST", headers: {"Content-Type": "application/json", "X-API-Key": "k3y"},
  body: JSON.stringify({user: "me", password: "pässword"})}),
fetch("/api/cart", {method: "PUT", body: new URLSearchParams({item: "1 2"})}), fetch("/api/empty", {method: "DELETE"})])
.then(() => addEventListener("load", () => {}), 0).finally(() => { document.title = "done"; });</script>`

// What a browser asked a server for, dyno asks for again.
func TestPageIsSentAgain(t *testing.T) {
	var mu sync.Mutex
	var sent []string
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		body.ReadFrom(r.Body)
		fields := []string{}
		for name, values := range r.Header {
			if name != "Connection" && name != "Content-Length" {
				fields = append(fields, name+": "+strings.Join(values, " | "))
			}
		}
		slices.Sort(fields)
		mu.Lock()
		sent = append(sent, fmt.Sprintf("%s %s\n%s\n%s", r.Method, r.RequestURI, strings.Join(fields, "\n"), &body))
		mu.Unlock()
		http.SetCookie(w, &http.Cookie{Name: "visit", Value: "1"})
		w.Header().Set("Cache-Control", "no-store")
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			_, port, _ := net.SplitHostPort(other.Listener.Addr().String())
			fmt.Fprintf(w, shopPage, port)
		case "/style.css":
			w.Header().Set("Content-Type", "text/css")
		case "/app.js":
			w.Header().Set("Content-Type", "text/javascript")
		}
	}))
	t.Cleanup(server.Close)
	var browser pagetest.Browser
	t.Cleanup(browser.Close)
	tab := browser.OpenTab(t)
	tab.Navigate(server.URL + "/")
	tab.WaitUntil(`document.title === "done" && document.readyState === "complete"`)
	archive := tab.HAR()
	tab.Complaints() // pictures without content
	mu.Lock()
	want := sent
	sent = nil
	mu.Unlock()
	if len(want) != 10 {
		t.Fatalf("the page asked for %d things, want 10:\n%s", len(want), strings.Join(want, "\n\n"))
	}

	dir := t.TempDir()
	t.Setenv("DYNO_HOME", filepath.Join(dir, "home"))
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(file("page.har"), archive, 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := Main([]string{"from", "har", file("page.har"), "--base", server.URL, "-o", file("page.jsonl"),
		"--secrets", file("secrets.jsonl")}, nil, &stdout, &stderr); code != exitOK {
		t.Fatalf("exits %d: %s", code, &stderr)
	}
	for _, wanted := range []string{"10 requests; to send them", "left out: http://localhost:", ", 2 requests",
		"{{token}} is in the place of that of the URL", "{{x_api_key}} is in the place of that of the header",
		"{{cookie}} is in the place of that of the header", "{{password}} is in the place of that of the body"} {
		if !strings.Contains(stderr.String(), wanted) {
			t.Errorf("%s\nhas no %q", &stderr, wanted)
		}
	}
	text, err := os.ReadFile(file("page.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"t0ken", "k3y", "pässword", "visit=1", "127.0.0.1:"} {
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, secret) && !strings.Contains(line, "Referer: ") && !strings.Contains(line, "Origin: ") {
				t.Errorf("%s is in the requests file: %s", secret, line)
			}
		}
	}
	stderr.Reset()
	if code := Main([]string{"run", "--requests-file", file("page.jsonl"), "--data", file("secrets.jsonl"), "-n", "10",
		"-c", "1", "-t", "1", "-q", "--no-save", server.URL}, nil, &stdout, &stderr); code != exitOK {
		t.Fatalf("exits %d: %s", code, &stderr)
	}
	slices.Sort(want)
	slices.Sort(sent)
	if !slices.Equal(sent, want) {
		t.Errorf("dyno sent\n%s\n\nthe browser sent\n%s", strings.Join(sent, "\n\n"), strings.Join(want, "\n\n"))
	}
}
