// Command action runs the script of the GitHub Action as a job would, on a repository that it
// makes, for three pull requests: one needs 5 % more CPU time for a request, one 5 % less, and one
// changes a comment only. It prints each comment as the API got it. GitHub is a server on 127.0.0.1
// that has as much of its API as the script uses. Run it when nothing else is at work on the
// machine; it takes about ten minutes:
//
//	make build && go run ./bench/action
//	go run ./bench/action -only equal -- --max-time 2m
//
// What follows -- is the workflow's args. It needs git, bash and Node.js. The exit code is 1 if a
// verdict is wrong; a comparison that is undecided is reported, and not wrong.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// A change is a pull request: its branch, how many hashes a request then needs, where the base
// needs 1,000, and the verdict and the exit code that are right.
type change struct {
	branch  string
	work    int
	verdict string
	exit    int
}

var changes = []change{{"regression", 1053, "worse", 1}, {"improvement", 947, "better-or-same", 0},
	{"equal", 1000, "better-or-same", 0}}

// commentMost is how many characters a comment may have.
const commentMost = 3500

func main() {
	dyno := flag.String("dyno", "./dyno", "the dyno that the job has")
	limit := flag.String("max-regression", "2%", "the workflow's max-regression")
	only := flag.String("only", "", "one of regression, improvement, equal (all)")
	keep := flag.String("o", "", "folder for results and comments (a temporary one, removed)")
	flag.Parse()
	args := cmp.Or(strings.Join(flag.Args(), " "), "--max-time 150s")
	if err := run(*dyno, *limit, *only, *keep, args); err != nil {
		fmt.Fprintln(os.Stderr, "action:", err)
		os.Exit(1)
	}
}

func run(dyno, limit, only, keep, args string) error {
	temporary, err := os.MkdirTemp("", "dyno-action-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	if keep == "" {
		keep = temporary
	}
	repository, err := sampleRepository(temporary)
	if err != nil {
		return err
	}
	api := newAPI()
	defer api.Close()
	var wrong []error
	for _, c := range changes {
		if only != "" && only != c.branch {
			continue
		}
		j := job{change: c, repository: repository, dyno: dyno, folder: filepath.Join(keep, c.branch),
			settings: []string{"DYNO_MAX_REGRESSION=" + limit, "DYNO_ARGS=" + args,
				"GITHUB_API_URL=" + api.URL, "DYNO_HOME=" + filepath.Join(temporary, "home"),
				"RUNNER_TEMP=" + temporary}}
		if err := j.run(api); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", c.branch, err))
		}
	}
	if n := len(api.comments); n != 1 {
		wrong = append(wrong, fmt.Errorf("the pull request has %d comments, and should have one", n))
	}
	return errors.Join(wrong...)
}

// A job is a run of the script.
type job struct {
	change
	repository, dyno, folder string
	settings                 []string // of its environment
}

// run runs the script, prints what came of it, and returns what is wrong with it.
func (j job) run(api *api) error {
	dyno, err := filepath.Abs(j.dyno)
	if err == nil {
		err = os.MkdirAll(j.folder, 0o755)
	}
	if err == nil {
		j.folder, err = filepath.Abs(j.folder)
	}
	script, at := filepath.Abs(filepath.Join("action", "compare.sh"))
	if err = errors.Join(err, at); err != nil {
		return err
	}
	outputs := filepath.Join(j.folder, "outputs")
	if err := os.WriteFile(outputs, nil, 0o644); err != nil { // the script appends to it
		return err
	}
	cmd := exec.Command("bash", script)
	cmd.Dir, cmd.Stderr = j.repository, os.Stderr
	cmd.Env = append(append(os.Environ(), j.settings...), "DYNO="+dyno, "DYNO_BASE=main",
		"DYNO_HEAD="+j.branch, "DYNO_BUILD=go build -o {out}/srv .",
		"DYNO_RUN={out}/srv -listen 127.0.0.1:{port}", "DYNO_FOLDER="+filepath.Join(j.folder, "results"),
		"GITHUB_OUTPUT="+outputs, "GITHUB_STEP_SUMMARY="+filepath.Join(j.folder, "summary.md"))
	began := time.Now()
	said, err := cmd.Output()
	if _, is := errors.AsType[*exec.ExitError](err); err != nil && !is {
		return err
	}
	given, err := os.ReadFile(outputs)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, said)
	}
	verdict, _, _ := strings.Cut(strings.TrimPrefix(string(given), "verdict="), "\n")
	if err := j.writeComment(filepath.Dir(script)); err != nil {
		return err
	}
	comment, requests := api.comment()
	size := utf8.RuneCountInString(comment)
	fmt.Printf("== %s: verdict %s, exit code %d, %.0f s, %d characters, %s\n\n%s\n", j.branch,
		verdict, cmd.ProcessState.ExitCode(), time.Since(began).Seconds(), size,
		strings.Join(requests, " "), comment)
	return errors.Join(os.WriteFile(filepath.Join(j.folder, "comment.md"), []byte(comment), 0o644),
		j.judge(verdict, cmd.ProcessState.ExitCode(), size))
}

// writeComment runs the script of the second action, as another job would.
func (j job) writeComment(actions string) error {
	cmd := exec.Command("node", filepath.Join(actions, "comment", "comment.mjs"),
		filepath.Join(j.folder, "results", "comment.md"), "dyno", "1")
	cmd.Env = append(append(os.Environ(), j.settings...), "GITHUB_REPOSITORY=sample/server",
		"GITHUB_TOKEN=secret")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// judge is what is wrong with a verdict, an exit code and the size of a comment.
func (j job) judge(verdict string, exit, size int) error {
	switch {
	case verdict == "undecided" && exit == 0:
		fmt.Printf("%s: undecided: the machine is not quiet, or --max-time is short\n", j.branch)
	case verdict != j.verdict || exit != j.exit:
		return fmt.Errorf("the verdict is %s and the exit code %d; right are %s and %d", verdict, exit,
			j.verdict, j.exit)
	}
	if size == 0 || size > commentMost {
		return fmt.Errorf("the comment has %d characters; 1 to %d are right", size, commentMost)
	}
	return nil
}

// sampleRepository is a repository of the server of bench/vs with a branch for each change.
func sampleRepository(dir string) (string, error) {
	source, err := os.ReadFile(filepath.Join("bench", "vs", "server", "main.go"))
	if err != nil {
		return "", fmt.Errorf("%w; run it in the root of dyno's repository", err)
	}
	at := filepath.Join(dir, "repository")
	git := func(args ...string) error {
		cmd := exec.Command("git", append([]string{"-C", at, "-c", "user.name=a", "-c",
			"user.email=a@localhost"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %q: %w\n%s", args, err, out)
		}
		return nil
	}
	commit := func(work int, more string) error {
		text := strings.Replace(string(source), `"work", 1000`, fmt.Sprintf(`"work", %d`, work), 1)
		return errors.Join(os.WriteFile(filepath.Join(at, "main.go"), []byte(text+more), 0o644),
			git("add", "-A"), git("commit", "-q", "-m", fmt.Sprint(work, " hashes")))
	}
	err = errors.Join(os.Mkdir(at, 0o755), git("init", "-q", "-b", "main", "."),
		os.WriteFile(filepath.Join(at, "go.mod"), []byte("module server\n\ngo 1.24\n"), 0o644),
		commit(1000, ""))
	for _, c := range changes {
		err = errors.Join(err, git("checkout", "-q", "-b", c.branch, "main"),
			commit(c.work, "\n// "+c.branch+" changes this comment.\n"))
	}
	return at, errors.Join(err, git("checkout", "-q", "main"))
}

// An api is as much of GitHub's API as the script uses: the comments of pull request 1.
type api struct {
	*httptest.Server
	mutex    sync.Mutex
	comments []map[string]any
	requests []string // methods, since comment was called
}

func newAPI() *api {
	a := &api{}
	a.Server = httptest.NewServer(a)
	return a
}

// comment is the text of the last comment, and the methods of the requests that wrote it.
func (a *api) comment() (text string, requests []string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if n := len(a.comments); n > 0 {
		text, _ = a.comments[n-1]["body"].(string)
	}
	requests, a.requests = a.requests, nil
	return text, requests
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const all, one = "/repos/sample/server/issues/1/comments", "/repos/sample/server/issues/comments/"
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.requests = append(a.requests, r.Method)
	var sent map[string]any
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&sent); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	var answer any
	switch id := strings.TrimPrefix(r.URL.Path, one); {
	case r.Header.Get("Authorization") != "Bearer secret":
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	case r.Method == http.MethodGet && r.URL.Path == all:
		answer = append([]map[string]any{}, a.comments...)
	case r.Method == http.MethodPost && r.URL.Path == all:
		sent["id"] = fmt.Sprint(len(a.comments))
		a.comments, answer = append(a.comments, sent), sent
	case r.Method == http.MethodPatch && slices.ContainsFunc(a.comments, func(c map[string]any) bool {
		return c["id"] == id
	}):
		for _, c := range a.comments {
			if c["id"] == id {
				c["body"], answer = sent["body"], c
			}
		}
	default:
		http.NotFound(w, r)
		return
	}
	_ = json.NewEncoder(w).Encode(answer)
}
