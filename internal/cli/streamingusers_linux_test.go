package cli

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The server of docs/streaming-users.md streams, and every command of the page does what it says.
func TestStreamingUsersPage(t *testing.T) {
	t.Parallel()
	page, dir := readGuide(t, "streaming-users.md"), t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	local := strings.NewReplacer("127.0.0.1:8080", address)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(local.Replace(fenced(t, page, "go"))), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", "server", "main.go")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := exec.Command(filepath.Join(dir, "server"))
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	for until := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(until) {
			t.Fatal(err)
		}
	}
	ran := 0
	for line := range strings.Lines(page) {
		line, is := strings.CutPrefix(strings.TrimRight(line, "\n"), "    dyno ")
		if !is {
			continue
		}
		ran++
		line = "dyno " + local.Replace(line)
		if strings.HasPrefix(line, "dyno find") {
			if out := tryFind(t, dir, line); out != "" && !strings.Contains(out, " first_event.p99<300ms") {
				t.Errorf("%s:\n%s", line, out)
			}
			continue
		}
		out, err := shell(t, dir, strings.Replace(line, "-d 10s --warmup 2s", "-d 500ms --drain 1m", 1)).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "\n  first event  ") || !strings.Contains(string(out), "\n  gap  ") {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	if ran != 2 {
		t.Errorf("the page has %d commands", ran)
	}
}
