package cli

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// Every command of docs/from.md does what it says, one after the other.
func TestFromPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/from.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	served := new(atomic.Int64)
	server := httptest.NewServer(answer(served))
	t.Cleanup(server.Close)
	writeSources(t, dir, server.URL)
	ran := 0
	for line := range strings.Lines(string(text)) {
		command, is := strings.CutPrefix(strings.TrimRight(line, "\n"), "    dyno ")
		if !is {
			continue
		}
		ran++
		command = strings.ReplaceAll("dyno "+command, "http://127.0.0.1:8080", server.URL)
		c := shell(t, dir, command)
		var errs bytes.Buffer
		c.Stderr = &errs
		out, err := c.Output()
		if err != nil {
			t.Errorf("%s: %v\n%s\n%s", command, err, out, &errs)
		}
		if _, file, writes := strings.Cut(command, " -o "); writes {
			file, _, _ = strings.Cut(file, " ")
			if made, err := os.ReadFile(filepath.Join(dir, file)); err != nil || len(made) == 0 {
				t.Errorf("%s: wrote %q, %v", command, made, err)
			}
		} else if served.Swap(0) == 0 {
			t.Errorf("%s: sent nothing", command)
		}
	}
	if ran < 10 {
		t.Errorf("the page has %d commands", ran)
	}
}

// writeSources writes a HAR file, logs and targets into a folder.
func writeSources(t *testing.T, dir, url string) {
	t.Helper()
	entry := func(url string) string { return `{"request": {"method": "GET", "url": "` + url + `", "headers": []}}` }
	line := `::1 - - [02/Jan/2026:03:04:05 +0000] "GET /a HTTP/1.1" 200 5 "-" "-"` + "\n"
	for name, content := range map[string]string{
		"page.har": `{"log": {"entries": [` + entry(url+"/") + `, ` + entry(url+"/a.png") + `, ` +
			entry("http://cdn.example/x.js") + `]}}`,
		"access.log":  line + strings.Replace(line, ":05 ", ":07 ", 1),
		"timed.log":   `::1 [02/Jan/2026:03:04:05 +0000] "GET /a HTTP/1.1" 200 1767323045.123` + "\n",
		"targets.txt": "GET " + url + "/a\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
