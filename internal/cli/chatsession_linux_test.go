package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"dyno/internal/result"
)

// A user of the page's session logs in, sends a prompt, and another: two of three answers are
// streams, and by hurl the file is run, too.
func TestChatSession(t *testing.T) {
	t.Parallel()
	const iterations, events = 20, 5
	var logins, chats, wrong atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/login":
			logins.Add(1)
			writeJSON(w, 200, map[string]string{"token": "t1"})
		case r.URL.Path == "/v1/chat/completions" && r.Header.Get("Authorization") == "Bearer t1":
			chats.Add(1)
			w.Header().Set("Content-Type", "text/event-stream")
			for range events {
				io.WriteString(w, `data: {"choices":[{"delta":{"content":"a"}}]}`+"\n\n")
				w.(http.Flusher).Flush()
			}
			io.WriteString(w, `data: {"choices":[],"usage":{"completion_tokens":7}}`+"\n\ndata: [DONE]\n\n")
		default:
			wrong.Add(1)
			w.WriteHeader(404)
		}
	}))
	t.Cleanup(s.Close)
	page, err := os.ReadFile("../../docs/streams.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	quick := strings.Replace(fenced(t, string(page), "hurl"), "1s..3s", "1ms..3ms", 1)
	if err := os.WriteFile(filepath.Join(dir, "chat.hurl"), []byte(quick), 0o600); err != nil {
		t.Fatal(err)
	}
	if hurl := os.Getenv(hurlEnv); hurl != "" {
		c := exec.Command(hurl, "--test", "chat.hurl", "--variable", "base="+s.URL)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil || logins.Swap(0) != 1 || chats.Swap(0) != 2 {
			t.Errorf("hurl: %v\n%s", err, out)
		}
	}
	done(t, dir, fmt.Sprint("dyno run -n ", iterations, " -c 4 --goodput 'gap.max<1m,latency<1m' --drain 1m --json run.json chat.hurl --variable base=", s.URL))
	b, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := result.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	x := r.Stream
	if x == nil || x.Counted != 2*iterations*events || x.Tokens != 2*iterations*7 || x.First.Count != 2*iterations || len(r.Plan.Stream.Steps) != 2 {
		t.Fatalf("%+v of %+v", x, r.Plan.Stream)
	}
	if r.Requests.Completed != 3*iterations || r.Requests.Errors != 0 || r.Goodput.Count != 3*iterations || logins.Load() != iterations ||
		chats.Load() != 2*iterations || wrong.Load() != 0 {
		t.Errorf("%+v, %+v; the server counts %d logins, %d chats, %d others", r.Requests, r.Goodput, logins.Load(), chats.Load(), wrong.Load())
	}
	c := shell(t, dir, fmt.Sprint("dyno run --stream sse -n 1 chat.hurl --variable base=", s.URL))
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "the Hurl file says which answers are streams") {
		t.Errorf("--stream with such a file: %v, %s", err, out)
	}
}
