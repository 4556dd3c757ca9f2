package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dyno/internal/engine/auth/authtest"
	"dyno/internal/lab"
	dashboard "dyno/internal/view/serve"
)

// Two revisions are built and compared. The repository is as before, and the experiment goes on with
// what was built.
func TestVsRevisions(t *testing.T) {
	t.Parallel()
	dir := sampleRepository(t)
	out := filepath.Join(t.TempDir(), "out")
	said, err := shell(t, dir, "dyno vs --git main~1 main --build 'go build -o {out}/srv .' "+
		"--run '{out}/srv -listen 127.0.0.1:{port}' -o "+out+shortVs).CombinedOutput()
	if exit, failed := errors.AsType[*exec.ExitError](err); !failed || exit.ExitCode() != exitUntrusted {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, file := range []string{"vs.yaml", "experiment.json", "report.html", "trials/r001-main@r200.json",
		"trials/r001-main-1@r200.json", "build/main/srv"} {
		if _, err := os.Stat(filepath.Join(out, file)); err != nil {
			t.Error(err)
		}
	}
	unchanged(t, dir)
	said, err = shell(t, dir, "dyno lab run --resume "+out+" --rounds +1").CombinedOutput()
	if exit, failed := errors.AsType[*exec.ExitError](err); !failed || exit.ExitCode() != exitUntrusted ||
		!strings.Contains(string(said), "\n  against main-1\n    main  cannot tell yet") {
		t.Errorf("%v\n%s", err, said)
	}
	if said, err := shell(t, dir, "dyno lab check "+out+"/vs.yaml").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

// unchanged fails if git knows of anything new in a repository.
func unchanged(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"worktree", "prune", "--dry-run"}, {"status", "--short"}, {"stash", "list"}} {
		if said, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("git %q: %v\n%s", args, err, said)
		}
	}
	said, err := exec.Command("git", "-C", dir, "worktree", "list", "--porcelain").Output()
	if n := strings.Count(string(said), "worktree "); err != nil || n != 1 {
		t.Errorf("%d worktrees: %v\n%s", n, err, said)
	}
}

// What a build that fails printed is shown, and nothing that was built is left.
func TestVsBuildFails(t *testing.T) {
	t.Parallel()
	dir := sampleRepository(t)
	out := filepath.Join(t.TempDir(), "out")
	said, err := shell(t, dir, "dyno vs --git main~1 main --build 'sh -c \"echo first; echo second >&2; exit 7\"' "+
		"--run '{out}/srv -listen 127.0.0.1:{port}' -o "+out).CombinedOutput()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if !failed || exit.ExitCode() != exitUnreachable {
		t.Errorf("%v\n%s", err, said)
	}
	for _, want := range []string{"main-1 cannot be compared: build step 3, ", "status 7", "first\n", "second\n"} {
		if !strings.Contains(string(said), want) {
			t.Errorf("does not say %q:\n%s", want, said)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "build")); !errors.Is(err, os.ErrNotExist) {
		t.Error("what was built is left: ", err)
	}
	unchanged(t, dir)
}

// Interrupted while it builds, or in a trial, it leaves no process, nothing in the repository, and no
// server that listens.
func TestVsInterrupted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ build, file string }{
		"building":   {"sh -c \"touch {out}/begun; sleep 1000\"", "build/main-1/begun"},
		"in a trial": {"go build -o {out}/srv .", "trials/*.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, out := sampleRepository(t), filepath.Join(t.TempDir(), "out")
			mark := fmt.Sprintf("DYNO_TEST_MARK=%d-%d", os.Getpid(), time.Now().UnixNano())
			cmd := exec.Command(copied(t, t.TempDir(), "dyno"), "vs", "--git", "main~1", "main", "--build", test.build,
				"--run", "{out}/srv -listen 127.0.0.1:{port}", "-o", out, "--rounds", "100", "-R", "100", "-c", "2")
			cmd.Dir, cmd.Env = dir, append(os.Environ(), mark, "GORACE="+shortly)
			said := new(strings.Builder)
			cmd.Stdout, cmd.Stderr = said, said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			await(t, "it has begun", func() bool {
				found, _ := filepath.Glob(filepath.Join(out, test.file))
				return len(found) > 0
			})
			cmd.Process.Signal(syscall.SIGINT)
			err := cmd.Wait()
			exit, is := errors.AsType[*exec.ExitError](err)
			if !is || exit.ExitCode() != exitInterrupted || !strings.Contains(said.String(), "go on with: dyno lab run --resume") {
				t.Errorf("%v\n%s", err, said)
			}
			await(t, "nothing is left", func() bool { return len(marked(mark)) == 0 })
			unchanged(t, dir)
			if _, err := os.Stat(filepath.Join(out, "build")); name == "building" && !errors.Is(err, os.ErrNotExist) {
				t.Error("what was built is left: ", err)
			}
		})
	}
}

// A Hurl file is run against each server, with its address as base, and requests are as dyno run sends
// them.
func TestVsRequests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"two.hurl": "GET {{base}}/a\nHTTP 200\n\nGET {{base}}/b?{{id}}\nHTTP 200\n",
		"mix.jsonl": `{"url": "/a", "weight": 3}` + "\n" + `{"url": "/b", "body": "x"}` + "\n", "rows.csv": "id\n1\n2\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	one, two := httptest.NewServer(answer(new(atomic.Int64))), httptest.NewServer(answer(new(atomic.Int64)))
	t.Cleanup(one.Close)
	t.Cleanup(two.Close)
	for i, flags := range []string{"two.hurl --data rows.csv", "--requests-file mix.jsonl",
		"-X PUT -H 'X-Token: {{id}}' -H 'Authorization: Bearer s3cr3t' -b '{\"a\": {{id}}}' --data rows.csv --path /item?x=1"} {
		out := filepath.Join(dir, fmt.Sprint("out", i))
		said, err := shell(t, dir, "dyno vs "+one.URL+" "+two.URL+" "+flags+" -o "+out+shortVs).CombinedOutput()
		if exit, failed := errors.AsType[*exec.ExitError](err); !failed || exit.ExitCode() != exitUntrusted {
			t.Errorf("%s: %v\n%s", flags, err, said)
			continue
		}
		trials, _ := filepath.Glob(filepath.Join(out, "trials", "r001*.json"))
		if len(trials) != 3 || strings.Contains(string(said), "FAILED") {
			t.Errorf("%s: %q\n%s", flags, trials, said)
		}
		file, err := os.ReadFile(filepath.Join(out, "vs.yaml"))
		if err != nil || strings.Contains(string(file), "s3cr3t") {
			t.Errorf("%v\n%s", err, file)
		}
	}
}

// Servers that verify who sends requests are compared: by the fairness check and by the load, which they both let
// in. The file has the user and not the password.
func TestVsSigned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, how := range []string{"digest", "sigv4:eu-west-1/s3"} {
		var urls []string
		guards := []*authtest.Guard{{}, {}}
		for _, g := range guards {
			serve := http.HandlerFunc(g.Digest)
			if how != "digest" {
				serve = g.SigV4("eu-west-1", "s3")
			}
			s := httptest.NewServer(serve)
			defer s.Close()
			urls = append(urls, s.URL+"/a=b")
		}
		out := filepath.Join(dir, fmt.Sprint("out", i))
		said, err := shell(t, dir, "dyno vs "+strings.Join(urls, " ")+" --auth "+how+" -u '"+authtest.User+":"+
			authtest.Password+"' -o "+out+shortVs).CombinedOutput()
		if exit, failed := errors.AsType[*exec.ExitError](err); !failed || exit.ExitCode() != exitUntrusted ||
			strings.Contains(string(said), "FAILED") {
			t.Errorf("%s: %v\n%s", how, err, said)
		}
		trials, err := lab.Folder{Dir: out}.ReadTrials()
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range guards {
			n := int64(0)
			for _, trial := range trials {
				if trial.Result != nil && trial.Result.Plan.Target.URL == urls[i] {
					n += trial.Result.Requests.Completed
				}
			}
			if n == 0 || int64(g.Right) <= n || g.Wrong > 0 { // the check asks, too
				t.Errorf("%s: %d let in, %d of them in trials, %d wrong: %.1000q", how, g.Right, n, g.Wrong, g.Why)
			}
		}
		filepath.WalkDir(out, func(path string, _ os.DirEntry, _ error) error {
			b, _ := os.ReadFile(path)
			if strings.Contains(string(b), authtest.Password) || strings.Contains(string(b), `p:w\"1`) {
				t.Errorf("%s has the password", path)
			}
			return nil
		})
		b, err := os.ReadFile(filepath.Join(out, "vs.yaml"))
		if err != nil || !strings.Contains(string(b), "user: "+authtest.User+":(redacted-") ||
			!strings.Contains(string(b), "auth: "+how) {
			t.Errorf("%v\n%s", err, b)
		}
	}
}

// Every command of docs/vs.md does what it says.
func TestVsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/vs.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := sampleRepository(t)
	for name, text := range map[string]string{"shop.hurl": "GET {{base}}/\nHTTP 200\n\nGET {{base}}/buy\nHTTP 200\n",
		"server.sh": "#!/bin/sh\n./old --port ${1:-$PORT} &\nsleep 1; echo listening at ${1:-$PORT}; wait\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	buildSample(t, dir)
	server := httptest.NewServer(answer(new(atomic.Int64)))
	t.Cleanup(server.Close)
	commands := 0
	for line := range strings.Lines(string(page)) {
		line, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "    dyno vs")
		if !is {
			continue
		}
		commands++
		line = strings.NewReplacer("http://127.0.0.1:8080", server.URL, "http://127.0.0.1:8081", server.URL).Replace(line)
		out, err := shell(t, dir, "dyno vs"+line+shortVs).CombinedOutput()
		exit, failed := errors.AsType[*exec.ExitError](err)
		if !failed || exit.ExitCode() != exitUntrusted || !strings.Contains(string(out), "cannot tell yet") {
			t.Errorf("dyno vs%s: %v\n%s", line, err, out)
		}
	}
	if commands != 9 {
		t.Errorf("%d commands were found", commands)
	}
	for _, g := range newVsFlags().groups() {
		for _, o := range g.options {
			short := o.short != "" && strings.Contains(string(page), "`-"+o.short)
			long := regexp.MustCompile("--" + o.long + `[^a-z-]`)
			if !short && !long.Match(page) && o.long != "help" {
				t.Errorf("the page has no --%s", o.long)
			}
		}
	}
}

// The dashboard is told what to allow, and finds the folder of a comparison that was refused.
func TestVersusFormIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	answers := func(body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, body) }))
		t.Cleanup(s.Close)
		return s.URL
	}
	c, faults := newVersusReader(copied(t, dir, "dyno"), dir)(dashboard.Form{"url": {answers("one"), answers("two")}})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	err := c.Run(t.Context())
	if err == nil || !strings.HasSuffix(err.Error(), "with --allow body") {
		t.Errorf("it ended with %v", err)
	}
	if r, err := lab.ReadRecord(c.Dir); err != nil || r.Fairness == nil {
		t.Errorf("its folder has %+v, %v", r, err)
	}
}
