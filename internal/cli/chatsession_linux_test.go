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

// A chatServer is what the sessions of docs/streams.md are for. Each answer to a prompt is a stream
// of chatEvents events.
type chatServer struct {
	*httptest.Server
	logins, chats, wrong atomic.Int64
}

const chatEvents = 5

func newChatServer(t *testing.T) *chatServer {
	s := &chatServer{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *chatServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/login":
		s.logins.Add(1)
		writeJSON(w, 200, map[string]string{"token": "t1"})
	case r.URL.Path == "/v1/chat/completions" && r.Header.Get("Authorization") == "Bearer t1":
		s.chats.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		for range chatEvents {
			io.WriteString(w, `data: {"choices":[{"delta":{"content":"a"}}]}`+"\n\n")
			w.(http.Flusher).Flush()
		}
		io.WriteString(w, `data: {"choices":[],"usage":{"completion_tokens":7}}`+"\n\ndata: [DONE]\n\n")
	default:
		s.wrong.Add(1)
		w.WriteHeader(404)
	}
}

// runChat runs dyno with run.json as its result, which it returns.
func runChat(t *testing.T, dir, command string) *result.Result {
	t.Helper()
	done(t, dir, command)
	b, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := result.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// writeChat writes the page's block of a language to a file.
func writeChat(t *testing.T, language string) (dir string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/streams.md")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	quick := strings.Replace(fenced(t, string(page), language), "1s..3s", "1ms..3ms", 1)
	if err := os.WriteFile(filepath.Join(dir, "chat."+language), []byte(quick), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A user of the page's session logs in, sends a prompt, and another: two of three answers are
// streams, and by hurl the file is run, too.
func TestChatSession(t *testing.T) {
	t.Parallel()
	const iterations = 20
	s, dir := newChatServer(t), writeChat(t, "hurl")
	if hurl := os.Getenv(hurlEnv); hurl != "" {
		c := exec.Command(hurl, "--test", "chat.hurl", "--variable", "base="+s.URL)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil || s.logins.Swap(0) != 1 || s.chats.Swap(0) != 2 {
			t.Errorf("hurl: %v\n%s", err, out)
		}
	}
	r := runChat(t, dir, fmt.Sprint("dyno run -n ", iterations, " -c 4 --stream openai --goodput 'gap.max<1m,latency<1m' --drain 1m --json run.json chat.hurl --variable base=", s.URL))
	x := r.Stream
	if x == nil || x.Counted != 2*iterations*chatEvents || x.Tokens != 2*iterations*7 || x.First.Count != 2*iterations || len(r.Plan.Stream.Steps) != 2 {
		t.Fatalf("%+v of %+v", x, r.Plan.Stream)
	}
	if r.Requests.Completed != 3*iterations || r.Requests.Errors != 0 || r.Goodput.Count != 3*iterations || s.logins.Load() != iterations ||
		s.chats.Load() != 2*iterations || s.wrong.Load() != 0 {
		t.Errorf("%+v, %+v; the server counts %d logins, %d chats, %d others", r.Requests, r.Goodput, s.logins.Load(), s.chats.Load(), s.wrong.Load())
	}
	c := shell(t, dir, fmt.Sprint("dyno run --stream sse -n 1 chat.hurl --variable base=", s.URL))
	if out, err := c.CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "--stream: the Hurl file says which answers are streams, by # dyno: stream openai; leave one of the two out") {
		t.Errorf("--stream with such a file: %v, %s", err, out)
	}
}

// A user of the page's script logs in once, and then sends prompts: their answers are streams, with
// the limits of streams.
func TestChatScript(t *testing.T) {
	t.Parallel()
	const users, requests = 4, 40
	s, dir := newChatServer(t), writeChat(t, "lua")
	r := runChat(t, dir, fmt.Sprint("dyno run -t 1 --users ", users, " -c 4 -n ", requests,
		" --goodput 'gap.max<1m,latency<1m' --stall 1m --json run.json --script chat.lua ", s.URL))
	x, chats := r.Stream, s.chats.Load()
	if logins := s.logins.Load(); logins < 1 || logins > users || chats != requests-logins || s.wrong.Load() != 0 {
		t.Errorf("the server counts %d logins, %d chats, %d others", logins, chats, s.wrong.Load())
	}
	if x == nil || x.Counted != chats*chatEvents || x.Tokens != chats*7 || x.First.Count != chats ||
		r.Requests.Completed != requests || r.Goodput.Count != requests {
		t.Errorf("%+v, %+v, %+v", x, r.Requests, r.Goodput)
	}
	if p := r.Plan; !p.Stream.Marked || p.Stream.Stall != 60e9 || p.Timeout != 600e9 || p.Drain != 30e9 {
		t.Errorf("%+v, timeout %v, drain %v", p.Stream, p.Timeout, p.Drain)
	}
	for command, want := range map[string]string{
		"dyno run --stream sse -n 1 --script chat.lua ":                `--stream: the script says which answers are streams, by dyno.stream("openai"); leave one of the two out`,
		"dyno run --pipeline 2 -n 1 --script chat.lua ":                "--pipeline: a stream ends before the next answer begins",
		"dyno run -n 1 --slo 'first_event.p99<1m' --script plain.lua ": "--slo: first_event.p99<1m is of streams of events; give --stream",
		"dyno find --stall 5 --script wrong.lua ":                      `wrong.lua:1: dyno.stream: "avro" is no format of a stream`,
		"dyno scenario check wrong.lua ":                               `wrong.lua:1: dyno.stream: "avro" is no format of a stream`,
		"dyno run -t 1 -c 1 -n 2 --script plain.lua ":                  "2 sent: 2 completed",
		"dyno scenario check chat.lua ":                                "chat.lua: request, response",
		"dyno scenario run -n 3 chat.lua ":                             "3 requests: 3 completed, 0 failed",
	} {
		for name, text := range map[string]string{"plain.lua": "function request() return wrk.format('GET', '/login') end", "wrong.lua": "dyno.stream('avro')"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, _ := shell(t, dir, command+s.URL).CombinedOutput()
		if !strings.Contains(string(out), want) {
			t.Errorf("%s: %s\nwant %s", command, out, want)
		}
	}
}
