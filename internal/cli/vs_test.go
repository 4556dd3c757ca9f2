package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A small server in Go, whose answer the sample repository changes.
const sampleServer = `package main

import (
	"flag"
	"fmt"
	"net/http"
)

func main() {
	port := flag.Int("port", 0, "")
	listen := flag.String("listen", "", "")
	flag.Parse()
	if *listen == "" {
		*listen = fmt.Sprintf("127.0.0.1:%d", *port)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		for range WORK {
			_ = fmt.Sprint(r.URL)
		}
		fmt.Fprintln(w, "hello")
	})
	panic(http.ListenAndServe(*listen, nil))
}
`

// sampleRepository is a repository with two revisions of the server: main~1, and main, which does more.
func sampleRepository(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "repo")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main", ".")
	for _, work := range []string{"1", "9"} {
		for name, text := range map[string]string{"go.mod": "module srv\n\ngo 1.24\n",
			"main.go": strings.Replace(sampleServer, "WORK", work, 1)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		git("add", "-A")
		git("commit", "-q", "-m", work)
	}
	return dir
}

// buildSample builds the server of the repository, as ./old and as ./new.
func buildSample(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"old", "new"} {
		cmd := exec.Command("go", "build", "-o", name, ".")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("building the sample server: %v\n%s", err, out)
		}
	}
}

// shortVs are flags that make dyno vs short; of such a comparison nothing can be told.
const shortVs = " --rounds 1 -d 200ms --warmup 0s -R 200"

// tryVs tries an example of dyno vs, which may be unable to tell.
func tryVs(t *testing.T, line, url string) {
	t.Helper()
	line = strings.ReplaceAll(line, "http://127.0.0.1:8081", url)
	dir := sampleRepository(t)
	if strings.Contains(line, "./old") {
		buildSample(t, dir)
	}
	out, err := shell(t, dir, line+shortVs).CombinedOutput()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if failed && exit.ExitCode() != exitUntrusted || err != nil && !failed {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
	for _, want := range []string{"against ", "cannot tell yet", "experiment: "} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s does not say %q:\n%s", line, want, out)
		}
	}
}
