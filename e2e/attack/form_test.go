//go:build linux

package attack

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A visitor is somebody who was let into a dashboard.
type visitor struct {
	http.Client
	base string
}

// visitDashboard starts a dashboard over a home, and lets a visitor in.
func visitDashboard(t *testing.T, home string) *visitor {
	t.Helper()
	cmd := exec.Command(binary, "serve", "--listen", "127.0.0.1:0", "--no-open")
	cmd.Env = append(os.Environ(), "DYNO_HOME="+home)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Signal(syscall.SIGTERM); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{Client: http.Client{Jar: jar}}
	v.base, _, _ = strings.Cut(line, "/?")
	answer, err := v.Get(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return v
}

// post is what the dashboard answers to a form.
func (v *visitor) post(t *testing.T, path string, form map[string]any) (status int, text string) {
	t.Helper()
	b, err := json.Marshal(form)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := v.Post(v.base+path, "application/json", bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(all)
}

// catchRequests is a server that keeps what it is sent.
func catchRequests(t *testing.T) (url string, caught func() string) {
	t.Helper()
	var mu sync.Mutex
	var all strings.Builder
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(&all, "%s %s %v %s\n", r.Method, r.RequestURI, r.Header, b)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/", func() string {
		mu.Lock()
		defer mu.Unlock()
		return all.String()
	}
}

// A visitor of the dashboard reaches no file of the machine, whatever a form calls a URL: dyno
// opens none, does not say whether one exists, and executes no word.
func TestFormNamesNoFile(t *testing.T) {
	const inside = "for the user's eyes only"
	url, caught := catchRequests(t)
	dir := t.TempDir()
	secretFile, ran := filepath.Join(dir, "secret.txt"), filepath.Join(dir, "ran")
	session := filepath.Join(dir, "s.hurl")
	for name, text := range map[string]string{secretFile: inside, session: "POST {{base}}/\nfile,secret.txt;\n",
		filepath.Join(dir, "bad.hurl"): "NOT HURL " + inside + "\n", filepath.Join(dir, "x.lua"): "error('" + inside + "')"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v := visitDashboard(t, t.TempDir())
	base := []string{"base=" + url}
	refused := func(path string, form map[string]any) string {
		t.Helper()
		status, text := v.post(t, path, form)
		if status == http.StatusOK && strings.Contains(text, `"problem"`) { // of a form that is checked
			status = http.StatusUnprocessableEntity
		}
		if status != http.StatusUnprocessableEntity || strings.Contains(text, inside) {
			t.Errorf("%s of %v: %d %s", path, form, status, text)
		}
		return text
	}
	for _, path := range []string{"/api/form", "/api/load"} {
		for _, word := range []string{session, dir + "/bad.hurl", "file://" + session, "http+unix://" + session,
			"fcgi+unix://" + session + ":/x.hurl", "x://" + session, "--script=" + dir + "/x.lua", "@" + secretFile} {
			refused(path, map[string]any{"url": word, "variable": base, "requests": 1, "connections": 1})
			refused(path, map[string]any{"url": []string{url, word}, "variable": base, "requests": 1, "connections": 1})
		}
		there := refused(path, map[string]any{"url": session, "variable": base})
		missing := refused(path, map[string]any{"url": dir + "/n.hurl", "variable": base})
		if strings.ReplaceAll(there, "s.hurl", "n.hurl") != missing {
			t.Errorf("%s: a file that exists has\n%s\nand one that does not\n%s", path, there, missing)
		}
		for _, field := range []string{"body", "header", "urls", "bodies", "requests-file", "script", "data", "variables-file",
			"json-body", "form", "cacert", "cert", "key", "stages", "json", "log", "save-errors", "pprof", "json=x --body"} {
			refused(path, map[string]any{"url": url, field: []string{"@" + secretFile, secretFile}})
			refused(path, map[string]any{"url": url, field: []string{"x", "@" + secretFile}})
		}
	}
	for _, words := range [][]string{{"touch " + ran, url}, {url, session}, {url, url, session}, {"--git", url},
		{url, "--build=touch " + ran}, {url, "http://127.0.0.1:1/;touch " + ran}, {"sh://-c touch " + ran, url}} {
		refused("/api/versus", map[string]any{"url": words, "rounds": 1, "duration": "100ms"})
	}
	for _, field := range []string{"git", "build", "run", "script", "urls", "body", "output", "names", "path"} {
		refused("/api/versus", map[string]any{"url": []string{url, url}, field: "touch " + ran})
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a word of a form was executed")
	}
	if got := caught(); got != "" {
		t.Errorf("the server of the visitor's choice was sent:\n%s", got)
	}
}
