package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/view/reporttest"
)

// A commentServer is as much of GitHub's API as the Action uses.
type commentServer struct {
	*httptest.Server
	mutex    sync.Mutex
	comments []map[string]any
	readOnly bool
	requests []string
}

func newCommentServer(t *testing.T) *commentServer {
	s := &commentServer{}
	for i := range 100 { // a page of others' comments, one of which pretends to be ours
		s.comments = append(s.comments, map[string]any{"id": i, "body": "a comment", "user": map[string]any{"login": "eve"}})
	}
	s.comments[50]["body"] = "<!-- dyno vs: dyno -->\n### dyno: forged"
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *commentServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.requests = append(s.requests, r.Method)
	var sent map[string]any
	switch {
	case r.Header.Get("Authorization") != "Bearer secret":
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method == "GET" && r.URL.Path == "/repos/a/b/issues/7/comments":
		var page int
		fmt.Sscan(r.FormValue("page"), &page)
		from := min(100*(page-1), len(s.comments))
		_ = json.NewEncoder(w).Encode(s.comments[from:min(from+100, len(s.comments))])
	case r.Method == "GET" && r.URL.Path == "/user": // a job's own token is an app's
		w.WriteHeader(http.StatusForbidden)
	case s.readOnly:
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"message": "Resource not accessible by integration"}`)
	case json.NewDecoder(r.Body).Decode(&sent) != nil:
		w.WriteHeader(http.StatusBadRequest)
	case r.Method == "POST" && r.URL.Path == "/repos/a/b/issues/7/comments":
		sent["id"], sent["user"] = len(s.comments), map[string]any{"login": "github-actions[bot]"}
		s.comments = append(s.comments, sent)
		_ = json.NewEncoder(w).Encode(sent)
	case r.Method == "PATCH" && r.URL.Path == "/repos/a/b/issues/comments/100":
		s.comments[100]["body"] = sent["body"]
		_ = json.NewEncoder(w).Encode(s.comments[100])
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// comment is the text of ours.
func (s *commentServer) comment(t *testing.T) string {
	t.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.comments) != 101 {
		t.Fatalf("%d comments, of which one should be ours: %v", len(s.comments), s.requests)
	}
	return s.comments[100]["body"].(string)
}

// runAction runs the script as a job of the Action would, and then, as another job would, the one that
// comments. It returns the first one's exit code, what both printed, the summary and the outputs.
func runAction(t *testing.T, repository string, s *commentServer, settings ...string) (code int,
	said, summary, outputs string) {
	t.Helper()
	script, err := filepath.Abs("../../action/compare.sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := exec.CommandContext(t.Context(), "bash", script)
	c.Dir = repository
	c.Env = append(os.Environ(), "GORACE="+shortly, "DYNO_HOME="+filepath.Join(dir, "home"), "RUNNER_TEMP="+dir,
		"GITHUB_TOKEN=secret", "GITHUB_ENV="+filepath.Join(dir, "env"), "GITHUB_PATH="+filepath.Join(dir, "path"),
		"ACTIONS_RUNTIME_TOKEN=secret", "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"), "GITHUB_OUTPUT="+filepath.Join(dir, "outputs"),
		"DYNO_BASE=main~1", "DYNO_HEAD=main", "DYNO_BUILD=go build -o {out}/srv .",
		"DYNO_RUN={out}/srv -listen 127.0.0.1:{port}")
	c.Env = append(c.Env, settings...)
	out, err := c.CombinedOutput()
	if err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(text)
	}
	summary, outputs = read("summary"), read("outputs")
	_, text, _ := strings.Cut(outputs, "\ncomment=")
	return c.ProcessState.ExitCode(), string(out) + writeComment(t, s, strings.TrimSpace(text)), summary, outputs
}

// writeComment runs what writes a file's text as the comment, and returns what it printed.
func writeComment(t *testing.T, s *commentServer, file string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "node", "../../action/comment/comment.mjs", file, "dyno", "7")
	c.Env = append(os.Environ(), "GITHUB_API_URL="+s.URL, "GITHUB_REPOSITORY=a/b", "GITHUB_TOKEN=secret")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return string(out)
}

// What builds and runs in the Action has no token, and not the files by which a step speaks to later
// ones. The workflow says whether an undecided comparison fails. Without GitHub the text goes to stdout,
// after what was there.
func TestActionWithoutSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	stub := "#!/bin/bash\nif [ \"$1\" = vs ]; then env > " + file("seen") + "; exit $STORED_CODE; fi\necho brief\n"
	if err := os.WriteFile(file("dyno"), []byte(stub), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ failOn, stored, want string }{{"worse", "3", "0"}, {"undecided", "3", "3"}, {"worse", "1", "1"},
		{"never", "0", "2"}} {
		cmd := exec.Command("bash", "-c", "{ echo before; bash ../../action/compare.sh; echo $?; } > "+file("said"))
		cmd.Env = append(os.Environ(), "DYNO="+file("dyno"), "STORED_CODE="+c.stored, "DYNO_FAIL_ON="+c.failOn,
			"DYNO_FOLDER="+file("out"), "DYNO_BASE=a", "DYNO_HEAD=b", "DYNO_BUILD=x", "DYNO_RUN=y", "MINE_TOKEN=mine",
			"GITHUB_TOKEN=secret", "GH_TOKEN=secret", "ACTIONS_RUNTIME_TOKEN=secret", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=secret",
			"INPUT_TOKEN=secret", "GITHUB_ENV=secret", "GITHUB_PATH=secret", "GITHUB_STATE=secret", "GITHUB_OUTPUT=/dev/null",
			"GITHUB_STEP_SUMMARY=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		said, err := os.ReadFile(file("said"))
		if err != nil || !strings.HasPrefix(string(said), "before\n") || !strings.HasSuffix(string(said), "\n"+c.want+"\n") {
			t.Errorf("%+v: %v\n%s", c, err, said)
		}
		passes := c.stored == "3" && c.want == "0" // it says so, and what would decide it
		if strings.Contains(string(said), "::warning::dyno is undecided") != passes {
			t.Errorf("%+v: %s", c, said)
		}
	}
	seen, err := os.ReadFile(file("seen"))
	if err != nil || !strings.Contains(string(seen), "MINE_TOKEN=mine") {
		t.Fatalf("nothing was shown: %v\n%s", err, seen)
	}
	for _, word := range []string{"secret", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} {
		if strings.Contains(string(seen), word) {
			t.Errorf("a build sees %s:\n%s", word, seen)
		}
	}
}

// A comment's text may be anybody's, because the pull request's code ran beside it.
func TestActionCommentIsPlain(t *testing.T) {
	t.Parallel()
	s, file := newCommentServer(t), filepath.Join(t.TempDir(), "comment.md")
	const hostile = "@everyone [a](https://evil.example) ![b](//evil.example/x.png) <img src=x> <!-- www.evil.example\n[c]: https://e.example\n"
	if err := os.WriteFile(file, []byte("<details><summary>p99 <20 ms</summary>\n"+hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	writeComment(t, s, file)
	got := s.comment(t)
	for _, live := range []string{"@", "](", "]:", "://", "www.", "<img"} {
		if strings.Contains(got, live) {
			t.Errorf("%s is live in\n%s", live, got)
		}
	}
	if strings.Count(got, "<!--") != 1 || !strings.HasPrefix(got, "<!-- dyno vs: dyno -->\n<details><summary>p99 <20 ms</summary>\n") {
		t.Errorf("%s", got)
	}
	writeComment(t, s, file) // updates it
	s.comment(t)
	if forged := s.comments[50]["body"]; !strings.HasSuffix(forged.(string), "forged") {
		t.Errorf("another's comment became ours: %v", forged)
	}
}

// pathWithDyno is the path of the program that shell runs as dyno.
func pathWithDyno(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("dyno")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// The Action compares two revisions, comments once, and updates its comment with the next run. In
// between it was not allowed to write, and says so.
func TestAction(t *testing.T) {
	t.Parallel()
	dir, s, in := sampleRepository(t), newCommentServer(t), t.TempDir()
	var results, said, summary, outputs string
	var code int
	for try := 0; try < 10 && (try == 0 || code == 0 && !comparesCPU(t, results)); try++ {
		results = filepath.Join(in, fmt.Sprint("results", try))
		code, said, summary, outputs = runAction(t, dir, s, "DYNO="+pathWithDyno(t), "DYNO_FOLDER="+results,
			"DYNO_ARGS="+shortVs+" --names old,new -H 'X-A: one two'")
	}
	first := s.comment(t)
	if code != 0 || !strings.HasPrefix(first, "<!-- dyno vs: dyno -->\n### dyno: main against main~1\n") ||
		!strings.Contains(first, "| old |") || !strings.Contains(outputs, "verdict=undecided\nfolder="+results) ||
		!strings.Contains(first, "\ndyno vs --git main~1 main --build ") || !strings.Contains(first, summary[:200]) {
		t.Fatalf("exit code %d, outputs %s, comment\n%s\n%s", code, outputs, first, said)
	}
	unchanged(t, dir)

	s.readOnly = true
	stored := "DYNO=" + storedVs(t, results, nil)
	if code, said, _, _ := runAction(t, dir, s, stored); code != 0 || !strings.Contains(said, "::warning::The comment could not") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	s.readOnly = false
	for _, c := range []struct {
		name              string
		ratio, low, high  float64
		verdict, exitCode string
	}{{"regression", 1.05, 1.03, 1.07, "worse", "1"}, {"improvement", 0.95, 0.93, 0.97, "better-or-same", "0"},
		{"equal", 1, 0.99, 1.01, "better-or-same", "0"}} {
		made := func(r map[string]any) { makeVerdict(r, c.ratio, c.low, c.high) }
		code, said, _, outputs := runAction(t, dir, s, "DYNO="+storedVs(t, results, made), "STORED_CODE="+c.exitCode)
		if fmt.Sprint(code) != c.exitCode || !strings.Contains(outputs, "verdict="+c.verdict) {
			t.Errorf("%s: exit code %d, outputs %s\n%s", c.name, code, outputs, said)
		}
		comment := s.comment(t)
		if n := len([]rune(comment)); n > 3500 {
			t.Errorf("%s: %d characters", c.name, n)
		}
		reporttest.Golden(t, "action."+c.name+".md", normalComment(comment), *update)
	}
}

// comparesCPU reports whether a folder compares CPU time. On a busy machine a trial of 200 ms may
// have measured none.
func comparesCPU(t *testing.T, dir string) bool {
	t.Helper()
	r, err := judge.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(r.Verdicts, func(c lab.Comparison) bool { return c.Metric == "cpu" && !c.Control })
}

// storedVs is a program that is dyno, but for vs: that copies a folder, after make changed its
// record, and exits with $STORED_CODE.
func storedVs(t *testing.T, results string, change func(map[string]any)) string {
	t.Helper()
	dir := t.TempDir()
	made := filepath.Join(dir, "made")
	if err := os.CopyFS(made, os.DirFS(results)); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		file := filepath.Join(made, "experiment.json")
		text, err := os.ReadFile(file)
		var r map[string]any
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		change(r)
		if text, err = json.Marshal(r); err == nil {
			err = os.WriteFile(file, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	script := filepath.Join(dir, "dyno")
	text := fmt.Sprintf("#!/bin/bash\nif [ \"$1\" != vs ]; then exec %s \"$@\"; fi\ncp -r %s \"${@: -1}\"\nexit ${STORED_CODE:-0}\n",
		pathWithDyno(t), made)
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return script
}

// makeVerdict gives a record of two variants made figures: CPU differs by that ratio, all else is
// the same.
func makeVerdict(r map[string]any, ratio, low, high float64) {
	of := func(v any) map[string]any { return v.(map[string]any) }
	r["cautions"], r["gate"], r["rounds"] = nil, nil, 12
	var kept []any
	for _, v := range r["verdicts"].([]any) {
		c := of(v)
		if c["control"] == true {
			continue
		}
		c["ratio"], c["low"], c["high"], c["verdict"] = 1.0, 0.995, 1.005, "equivalent"
		if c["metric"] == "cpu" {
			c["ratio"], c["low"], c["high"] = ratio, low, high
			if ratio != 1 {
				c["verdict"] = "different"
			}
		}
		c["confidence"], c["trials"], c["margin"], c["floor"] = 0.95, 12, 0.02, 0.0
		c["p"], c["p_adjusted"] = 0.001, 0.001
		for _, doubt := range []string{"client_bound", "disturbed", "other_load", "grade_f", "missing", "more_rounds"} {
			delete(c, doubt)
		}
		kept = append(kept, c)
	}
	r["verdicts"] = kept
	middles := map[string]float64{"throughput": 20000, "cpu": 40, "p50": 900, "p99": 4000}
	for _, v := range r["cells"].([]any) {
		c := of(v)
		m := middles[c["metric"].(string)]
		if c["metric"] == "cpu" && c["arm"] == "new" {
			m *= ratio
		}
		c["trials"], c["median"] = 12, map[string]any{"estimate": m, "low": 0.99 * m, "high": 1.01 * m, "level": 0.95}
	}
	level := of(r["cells"].([]any)[0])["level"]
	for _, arm := range []string{"old", "new"} {
		r["cells"] = append(r["cells"].([]any), map[string]any{"arm": arm, "level": level, "metric": "p99", "unit": "µs",
			"trials": 12, "median": map[string]any{"estimate": 4000, "low": 3900, "high": 4100, "level": 0.95}})
	}
	for _, v := range r["trials"].([]any) {
		of(v)["grade"] = "A"
		delete(of(v), "reasons")
	}
}

// normalComment leaves out of a comment what is of this machine and of this run.
func normalComment(s string) []byte {
	for _, r := range []struct{ pattern, with string }{
		{`(?m)^load: .*$`, "(conditions)"},
		{`(?m)^vs-old-new: .*$`, "(scope)"},
		{`(?m)^- \d+ of \d+ trials ran$`, "- N of M trials ran"},
		{`(?m)^- The machine was busy in .*\n`, ""},
	} {
		s = regexp.MustCompile(r.pattern).ReplaceAllString(s, r.with)
	}
	return []byte(s)
}
