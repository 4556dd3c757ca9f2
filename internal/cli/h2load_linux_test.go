package cli

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// An h2loadServer knows what it was sent, on how many connections, and how much at once: it answers
// when so many requests wait, and not before.
type h2loadServer struct {
	mu            sync.Mutex
	atOnce        int
	waiting, most int
	gate          chan struct{}
	connections   int
	sent          map[string]int
}

func (s *h2loadServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var fields []string
	for name, values := range r.Header {
		if name != "User-Agent" && name != "Content-Length" {
			fields = append(fields, fmt.Sprintf("%s: %q", name, values))
		}
	}
	slices.Sort(fields)
	s.mu.Lock()
	s.sent[fmt.Sprintf("%s %s %s %v %q", r.Method, r.RequestURI, r.Proto, fields, body)]++
	s.waiting++
	s.most = max(s.most, s.waiting)
	gate := s.gate
	if s.waiting == s.atOnce {
		close(gate)
		s.waiting, s.gate = 0, make(chan struct{})
	}
	s.mu.Unlock()
	select {
	case <-gate:
	case <-time.After(time.Minute):
	}
	io.WriteString(w, "ok")
}

// What docs/coming-from.md gives for a command of h2load sends what h2load sends: the same requests, as
// many of them, on as many connections, as many at once.
func TestTranslationsOfH2load(t *testing.T) {
	t.Parallel()
	h2load := installedTool(t, "h2load")
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte("a=1"), 0o666); err != nil {
		t.Fatal(err)
	}
	const h2, h1 = "GET /x?a=b HTTP/2.0 [%s] %q", "GET /x?a=b HTTP/1.1 [%s] %q"
	for _, test := range []struct {
		theirs, ours        string
		atOnce, connections int
		sent                string
	}{
		{"-n 40 -c 2 -m 5 http://URL", "-n 40 -c 2 --streams 5 h2c://URL", 10, 2, fmt.Sprintf(h2, "", "")},
		{"-n 6 -c 2 -t 2 http://URL", "-n 6 -c 2 -t 2 h2c://URL", 2, 2, fmt.Sprintf(h2, "", "")},
		{"--h1 -n 6 -c 3 http://URL", "-n 6 -c 3 http://URL", 3, 3, fmt.Sprintf(h1, "", "")},
		{"-n 4 -c 1 -d FILE -H Content-Type:a/b http://URL", "-n 4 -c 1 -b @FILE -H Content-Type:a/b h2c://URL", 1, 1,
			`POST /x?a=b HTTP/2.0 [Content-Type: ["a/b"]] "a=1"`},
	} {
		for _, by := range []string{h2load, "dyno"} {
			if by == "" {
				continue
			}
			s := &h2loadServer{atOnce: test.atOnce, gate: make(chan struct{}), sent: map[string]int{}}
			server := httptest.NewUnstartedServer(s)
			server.Config.Protocols = new(http.Protocols)
			server.Config.Protocols.SetHTTP1(true)
			server.Config.Protocols.SetUnencryptedHTTP2(true)
			server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					s.mu.Lock()
					s.connections++
					s.mu.Unlock()
				}
			}
			server.Start()
			line := map[bool]string{true: "run --drain 1m -q --no-save " + test.ours, false: test.theirs}[by == "dyno"]
			line = strings.ReplaceAll(line, "URL", strings.TrimPrefix(server.URL, "http://")+"/x?a=b")
			words := strings.Fields(strings.ReplaceAll(line, "FILE", file))
			if by != "dyno" {
				words = append([]string{"h2load"}, words...)
			}
			runTool(t, t.TempDir(), by, words)
			server.Close()
			n := 0
			for _, times := range s.sent {
				n += times
			}
			if want := strings.Fields(test.theirs); len(s.sent) != 1 || s.sent[test.sent] != n || fmt.Sprint(n) != want[slices.Index(want, "-n")+1] ||
				s.connections != test.connections || s.most != test.atOnce {
				t.Errorf("%s: %s\nsent %v on %d connections, %d at once; want %s", filepath.Base(by), line, s.sent, s.connections, s.most, test.sent)
			}
		}
	}
}
