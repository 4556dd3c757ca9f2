package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// Every command of docs/lua.md does what it says, with the script that the page shows.
func TestLuaPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/lua.md")
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(page), "```lua\n")
	script, _, _ = strings.Cut(script, "```\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "visit.lua"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	var logins, wrong atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			logins.Add(1)
			w.Header().Set("X-Token", "t1")
		} else if r.Header.Get("X-Token") != "t1" || !strings.HasPrefix(r.URL.Path, "/items/") {
			wrong.Add(1)
		}
		fmt.Fprint(w, "hello")
	}))
	defer server.Close()
	commands := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "    dyno ") || strings.Contains(line, "--fleet") { // see luafleet.txt
			continue
		}
		commands++
		line = strings.ReplaceAll(strings.TrimSpace(line), "http://127.0.0.1:8080", server.URL)
		out, err := shell(t, dir, line).CombinedOutput()
		for try := 0; try < 10 && strings.Contains(string(out), "or was held up, at every level"); try++ { // by a busy machine
			out, err = shell(t, dir, line).CombinedOutput()
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	if commands != 7 || logins.Load() == 0 || wrong.Load() > 0 {
		t.Errorf("%d commands, %d logins, %d requests were wrong", commands, logins.Load(), wrong.Load())
	}
}
