package cli

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The server of docs/streaming-users.md streams, and every command of the page does what it says.
func TestStreamingUsersPage(t *testing.T) {
	t.Parallel()
	page, dir := readGuide(t, "streaming-users.md"), t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	local := strings.NewReplacer("127.0.0.1:8080", l.Addr().String())
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(servesListener(t, fenced(t, page, "go"))), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", "server", "main.go")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	server := exec.Command(filepath.Join(dir, "server"))
	server.ExtraFiles = []*os.File{file}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
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
		out, err := shell(t, dir, strings.Replace(line, "-d 10s --warmup 2s", "-n 60 --drain 1m", 1)).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "\n  first event  ") || !strings.Contains(string(out), "\n  gap  ") {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	if ran != 2 {
		t.Errorf("the page has %d commands", ran)
	}
}

// servesListener is a page's server, which accepts from the test's listener: its port is never free.
func servesListener(t *testing.T, source string) string {
	t.Helper()
	for old, instead := range map[string]string{
		`log.Fatal(http.ListenAndServe("127.0.0.1:8080", nil))`: "l, err := net.FileListener(os.NewFile(3, \"\"))\n\tlog.Fatal(err, http.Serve(l, nil))",
		"\t\"net/http\"\n": "\t\"net\"\n\t\"net/http\"\n\t\"os\"\n",
	} {
		if strings.Count(source, old) != 1 {
			t.Fatalf("the server does not have %q once", old)
		}
		source = strings.Replace(source, old, instead, 1)
	}
	return source
}
