package cli

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/proto/tunnel/tunneltest"
	"dyno/internal/engine/proxyproto"
	"dyno/internal/engine/proxyproto/proxytest"
)

// docBlocks are the indented blocks of a page of the documentation.
func docBlocks(t *testing.T, name string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	block := ""
	for line := range strings.Lines(string(text) + "\n") {
		if rest, is := strings.CutPrefix(line, "    "); is {
			block += rest
		} else if block != "" {
			all, block = append(all, block), ""
		}
	}
	return all
}

// Every command of the page about requests does what it says, and what it says of files is what
// dyno reads.
func TestCommandsOfTheRequestsPage(t *testing.T) {
	t.Parallel()
	people := "email,token\n" + strings.Repeat("a@example.org,t1\n", 60)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		to := io.Writer(w)
		if accepts := r.Header.Get("Accept-Encoding"); strings.Contains(accepts, "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			packed := gzip.NewWriter(w)
			defer packed.Close()
			to = packed
		}
		body, err := io.ReadAll(r.Body)
		if r.URL.Path == "/upload" && (err != nil || r.ContentLength != -1 || string(body) != people) {
			w.WriteHeader(http.StatusBadRequest)
		}
		io.WriteString(to, `{"ok": true, "inbox": []}`)
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("people.csv", people)
	commands, files, workloads := 0, 0, 0
	for _, block := range docBlocks(t, "requests.md") {
		switch {
		case strings.HasPrefix(block, "{"):
			write("mix.jsonl", block)
			tryRequests(t, dir, "dyno run -n 20 -c 2 --requests-file mix.jsonl "+server.URL)
			files++
		case strings.HasPrefix(block, "workload:"):
			write("doc.yaml", "version: 1\nname: doc\ndesign: {rounds: 2}\nlevels: [{connections: 2}]\n"+
				"variants: {a: {url: \""+server.URL+"/\"}}\n"+block)
			done(t, dir, "dyno lab check doc.yaml")
			workloads++
		}
		for line := range strings.Lines(block) {
			if !strings.HasPrefix(line, "dyno ") {
				continue
			}
			commands++
			line = strings.ReplaceAll(strings.TrimSpace(line), "http://127.0.0.1:8080", server.URL)
			switch {
			case strings.HasPrefix(line, "dyno find"):
				tryFind(t, dir, line)
			case strings.Contains(line, "--proxy-protocol"):
				s := httptest.NewUnstartedServer(server.Config.Handler)
				s.Listener = proxytest.Wrap(t, s.Listener, proxyproto.V2)
				s.StartTLS()
				t.Cleanup(s.Close)
				tryRequests(t, dir, strings.ReplaceAll(line, "https://127.0.0.1:8443", s.URL)+" -n 60 -c 3 --insecure")
			case strings.Contains(line, "--proxy http://alice:secret@127.0.0.1:3128"):
				s := httptest.NewTLSServer(server.Config.Handler)
				t.Cleanup(s.Close)
				line = strings.ReplaceAll(line, "https://127.0.0.1:8443", s.URL)
				proxy := tunneltest.Start(t, "alice:secret")
				line = strings.ReplaceAll(line, "http://alice:secret@127.0.0.1:3128", proxy.URL)
				tryRequests(t, dir, line+" -n 60 -c 3 --insecure")
			case strings.Contains(line, "--fleet"):
				tryFleetRun(t, dir, line+" --loose-start -c 2")
			default:
				tryRequests(t, dir, line+" -n 60 -c 3 --drain 1m")
			}
		}
	}
	if commands < 6 || files != 1 || workloads != 1 {
		t.Errorf("the page has %d commands, %d requests files and %d workloads", commands, files, workloads)
	}
}

// tryRequests tries a run, of which no request may fail.
func tryRequests(t *testing.T, dir, line string) {
	t.Helper()
	if out := done(t, dir, line); !strings.Contains(out, "completed, 0 errors") {
		t.Errorf("%s:\n%s", line, out)
	}
}

// tryFleetRun tries a run of a fleet of one agent.
func tryFleetRun(t *testing.T, dir, line string) {
	t.Helper()
	_, hub := started(t, dir, "dyno fleet up --listen 127.0.0.1:0")
	if err := os.WriteFile(filepath.Join(dir, "join-token"), []byte(done(t, dir, "dyno fleet token")),
		0o600); err != nil {
		t.Fatal(err)
	}
	_, agent := started(t, dir, "dyno agent --join @join-token --name web1")
	await(t, "the agent", func() bool {
		out, err := shell(t, dir, "dyno fleet ls").CombinedOutput()
		return err == nil && slices.Contains(strings.Fields(string(out)), "web1")
	})
	tryRequests(t, dir, line)
	ended(t, agent)
	ended(t, hub)
}
