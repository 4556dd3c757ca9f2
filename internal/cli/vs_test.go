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

	"dyno/internal/lab"
	labrun "dyno/internal/lab/run"
	"dyno/internal/result"
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
	// On a busy machine the server, which is this process, may spoil its trials.
	if s := string(out); !strings.Contains(s, "cannot tell yet") && !strings.Contains(s, "spoiled") {
		t.Errorf("%s says more than one round can:\n%s", line, out)
	}
	for _, want := range []string{"against ", "\n  report       ", "\n  all of it    dyno lab show -v "} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s does not say %q:\n%s", line, want, out)
		}
	}
}

// A terminal has one line, which is written over, and below the plan, said once the servers were
// checked. Elsewhere the plan and what fails are said, and with details each step.
func TestVsProgress(t *testing.T) {
	again := &lab.Trial{Attempt: 2, Result: new(result.Result)}
	events := []labrun.Event{{Step: "check", Arm: "go"}, {Step: "ceiling", Level: "c50"}, {Step: "trial", Arm: "go", Round: 1},
		{Step: "done", Arm: "go", Round: 1, Done: 5, Of: 7, Trial: again}, {Step: "done", Arm: "node", Round: 1, Done: 6, Of: 7, Trial: again},
		{Step: "done", Arm: "node", Round: 1, Done: 7, Of: 7, Trial: &lab.Trial{Attempt: 2, Failure: &lab.Failure{Phase: "start", Reason: "no"}}}}
	show := func(p vsProgress) string {
		var b strings.Builder
		p.plan, p.rounds = "6 trials\n  warning: x\n", 2
		p.steps.say = func(form string, args ...any) { fmt.Fprintf(&b, form+"\n", args...) }
		if p.live != nil {
			p.live.w = &b
		}
		for _, e := range events {
			p.showEvent(e)
		}
		p.end()
		return b.String()
	}
	const failed = "7/7  round 1 again  node at : FAILED: start: no"
	if got, want := show(vsProgress{}), "6 trials\n  warning: x\n"+failed+"\n"; got != want {
		t.Errorf("a pipe has %q, not %q", got, want)
	}
	const over, repeats = clearLine, "running 3 trials again: the machine disturbed some of them"
	want := over + "checking go" + over + "6 trials\n  warning: x\n" + over + "measuring the generator alone" + over + "round 1" +
		over + repeats + over + failed + "\n" + over + repeats + over
	if got := show(vsProgress{live: &liveLine{}}); got != want {
		t.Errorf("a terminal has\n%q, not\n%q", got, want)
	}
	got := show(vsProgress{all: true})
	for _, line := range []string{"check go\n", "the generator's own ceiling at c50\n", repeats + "\n", failed + "\n"} {
		if strings.Count(got, line) != 1 {
			t.Errorf("with details it does not say %q once:\n%s", line, got)
		}
	}
}

// What goes on begins with a later round. Repeated trials and a gate's second batch begin none.
func TestRoundsOfWhatGoesOn(t *testing.T) {
	p := vsProgress{rounds: 30}
	for _, step := range []struct{ trial, round int }{{11, 11}, {11, 11}, {12, 12}, {11, 12}, {lab.ConfirmingRound + 1, 12}} {
		if p.noteRound(step.trial); p.round != step.round || p.first != 11 {
			t.Errorf("a trial of round %d: round %d since %d", step.trial, p.round, p.first)
		}
	}
}

// Where lines stay, a few rounds have one, and never the last, which the report follows.
func TestRoundsOfAPipe(t *testing.T) {
	for rounds, want := range map[int][]int{1: nil, 2: {1}, 10: {3, 5, 8}, 100: {25, 50, 75}, 0: {6, 12, 24, 48, 96}} {
		p, got := vsProgress{rounds: rounds}, []int(nil)
		for round := 1; round <= max(rounds, 100*(1-min(rounds, 1))); round++ {
			if p.isShown(round) {
				got = append(got, round)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %d rounds %v are shown, not %v", rounds, got, want)
		}
	}
}

// Commands without their quotes are written as they should be, in any place among the flags of dyno vs.
func TestUnquoted(t *testing.T) {
	for line, want := range map[string]string{
		"./a -addr :{port} ./b -addr :{port}":                                    "'./a -addr :{port}' './b -addr :{port}'",
		"--names go,node -o out ./a -p {port} node s.js {port}":                  "'./a -p {port}' 'node s.js {port}'",
		"./a -p {port} -x --allow etag ./b {port} -v -c 20":                      "'./a -p {port} -x' './b {port}'",
		"login.hurl ./a --port={port} http://127.0.0.1:1/ --url http://h:{port}": "'./a --port={port}'",
		"./a -x 1;2 {port} http://127.0.0.1:1/":                                  "'./a -x '\\''1;2'\\'' {port}'",
		"-H X:1 ./a {port} ./b {port}":                                           "'./a {port}' './b {port}'",
		"http://127.0.0.1:1/ http://127.0.0.1:2/":                                "",
		"./a ./b --url http://127.0.0.1:8080/":                                   "",
		"--git main HEAD --run ./srv:{port}":                                     "",
		"./a ./b --url 127.0.0.1:{port}":                                         "",
		"./a ./b -H X:{port}":                                                    "",
	} {
		_, faults := readVs(t.Context(), strings.Fields(line))
		said := errors.Join(faults...)
		if want == "" {
			if said != nil && strings.Contains(said.Error(), "needs quotes") {
				t.Errorf("%s: %v", line, said)
			}
			continue
		}
		if want = "each server's command needs quotes: " + want; said == nil || said.Error() != want {
			t.Errorf("%s:\n%v, not\n%s", line, said, want)
		}
	}
	if _, faults := readVs(t.Context(), []string{"./a {port}", "./b -p {port}"}); len(faults) > 0 {
		t.Errorf("with quotes: %q", faults)
	}
}
