package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dyno/internal/lab"
	labrun "dyno/internal/lab/run"
)

// A small server in Go, whose answer the sample repository changes. It is built many times, so it has
// no net/http, which takes three times as long to link.
const sampleServer = `package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"
)

func main() {
	port := flag.Int("port", 0, "")
	listen := flag.String("listen", "", "")
	flag.Parse()
	if *listen == "" {
		*listen = fmt.Sprintf("127.0.0.1:%d", *port)
	}
	l, err := net.Listen("tcp", *listen)
	for err == nil {
		var c net.Conn
		if c, err = l.Accept(); err == nil {
			go serve(c)
		}
	}
	panic(err)
}

func serve(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		request := ""
		for !strings.HasSuffix(request, "\r\n\r\n") {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			request += line
		}
		for range WORK {
			_ = fmt.Sprint(request)
		}
		answer := "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
		if !strings.HasPrefix(request, "HEAD ") {
			answer += "hello\n"
		}
		io.WriteString(c, answer)
	}
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

// builtSample builds the server of sample repositories once, beside the commands of the scripts.
var builtSample = sync.OnceValues(func() (program string, err error) {
	dyno, err := exec.LookPath("dyno")
	if err != nil {
		return "", err
	}
	program = filepath.Join(filepath.Dir(dyno), "sample-server")
	file := program + ".go"
	if err := os.WriteFile(file, []byte(strings.Replace(sampleServer, "WORK", "1", 1)), 0o600); err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "build", "-o", program, file).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the sample server: %w\n%s", err, out)
	}
	return program, nil
})

// buildSample puts the server of the repository there, as ./old and as ./new.
func buildSample(t *testing.T, dir string) {
	t.Helper()
	program, err := builtSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"old", "new"} {
		if out, err := exec.Command("cp", program, filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
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

// Trials that are measured again are said once, with their number, when the first of them is done.
func TestVsSaysWhatIsMeasuredAgain(t *testing.T) {
	var said []string
	p := &vsProgress{cells: 2, began: time.Now(), steps: labProgress{
		say: func(form string, args ...any) { said = append(said, fmt.Sprintf(form, args...)) }}}
	for i := range 3 {
		p.showEvent(labrun.Event{Step: "done", Round: 1, Done: 5 + i, Of: 7, Trial: &lab.Trial{Attempt: 2}})
	}
	want := []string{"running 3 trials again: the machine disturbed some of them"}
	if !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}
