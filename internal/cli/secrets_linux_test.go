package cli

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dyno/internal/view/page"
)

// known is a secret of each kind that a load can have. They have nothing that is escaped anywhere,
// so that they can be looked for as they are.
var known = map[string]string{"header": "Zq1HeaderSecret9x", "cookie": "Zq2CookieSecret9x",
	"field": "Zq3FieldSecret9x", "query": "Zq4QuerySecret9x", "URL": "Zq5UrlSecret9x",
	"environment": "Zq6EnvironmentSecret9x"}

// A haystack is everything that dyno has left anywhere.
type haystack struct {
	found map[string]string // kinds of secrets, and where they were first
	items int
}

// search looks for all secrets in b, also in what is packed in it.
func (h *haystack) search(name string, b []byte) {
	h.items++
	for kind, secret := range known {
		basic := base64.StdEncoding.EncodeToString([]byte("me:" + secret)) // as Authorization has it
		for _, needle := range []string{secret, basic} {
			if _, had := h.found[kind]; !had && bytes.Contains(b, []byte(needle)) {
				h.found[kind] = name
			}
		}
	}
	if z, err := gzip.NewReader(bytes.NewReader(b)); err == nil {
		if packed, err := io.ReadAll(z); err == nil {
			h.search(name+" unpacked", packed)
		}
	}
	if data, err := page.Data(b); err == nil {
		h.search(name+" drawn", data)
	}
	if strings.Contains(name, ".tar") {
		for t := tar.NewReader(bytes.NewReader(b)); ; {
			entry, err := t.Next()
			if err != nil {
				break
			}
			content, _ := io.ReadAll(t)
			h.search(name+": "+entry.Name, content)
		}
	}
	for _, inner := range regexp.MustCompile(`"H4sI[A-Za-z0-9+/=]+"`).FindAll(b, -1) { // gzip in base64
		if packed, err := base64.StdEncoding.DecodeString(strings.Trim(string(inner), `"`)); err == nil {
			h.search(name+" packed", packed)
		}
	}
}

// folder searches all files below a folder, and their names.
func (h *haystack) folder(t *testing.T, dir string) {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		h.search(strings.TrimPrefix(path, dir), append(b, path...))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// said has a command line of dyno do what it does, and searches what it prints.
func (h *haystack) said(t *testing.T, dir, line string) {
	t.Helper()
	c := shell(t, dir, line)
	c.Env = append(c.Env, "DYNO_TEST_SECRET="+known["environment"])
	out, err := c.CombinedOutput()
	if exit, is := errors.AsType[*exec.ExitError](err); err != nil &&
		(!is || exit.ExitCode() != exitUntrusted) {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
	h.search("the output of "+line, out)
}

// asking is the rest of a command line whose load has all secrets but the environment's.
func asking(addr string) string {
	return fmt.Sprintf(`-H 'X-Tenant: %s' -H 'Cookie: sid=%s' -b '{"user":"me","password":"%s"}' `+
		`'http://me:%s@%s/x?page=1&api_key=%s'`, known["header"], known["cookie"], known["field"],
		known["URL"], addr, known["query"])
}

// secretive is an experiment that has all of them, and a variant with a generator of its own.
func secretive() string {
	return fmt.Sprintf(`
version: 1
name: secretive # and not %[1]s
design: {rounds: 1, aa: false, warmup: {min: 0, max: 0}, measure: 1s, cooldown: 0, metrics: [throughput]}
levels: [{name: c2, connections: 2, threads: 1}]
workload:
  request:
    path: /x?page=1&api_key=%[4]s
    headers: {X-Tenant: %[1]s, Cookie: sid=%[2]s, Accept: 'text/{{env "DYNO_TEST_SECRET"}}'}
    body: '{"user":"{{env "DYNO_TEST_SECRET"}}","password":"%[3]s"}'
variants:
  own: &own
    env: {SESSION_SECRET: %[2]s, GOMAXPROCS: "2", PLAIN: 'x{{env "DYNO_TEST_SECRET"}}x'}
    processes:
      - cmd: env API_TOKEN=%[1]s {{dyno}} target --service constant:2ms --listen 127.0.0.1:{{port}}
        env: {UPSTREAM: 'http://me:%[5]s@127.0.0.1:1/'}
    url: http://127.0.0.1:{{port}}/
  foreign:
    <<: *own
    generator:
      cmd: >-
        {{dyno}} run -q --no-save -t 1 -c 2 -R 300 -d 1h -H 'X-Auth: %[1]s' -H 'Cookie: sid=%[2]s'
        --body '{"password":"%[3]s"}' -H 'X-Env: {{env "DYNO_TEST_SECRET"}}'
        'http://me:%[5]s@127.0.0.1:{{port}}/x?api_key=%[4]s'
      served: http://127.0.0.1:{{port}}/.dyno/served
`, known["header"], known["cookie"], known["field"], known["query"], known["URL"])
}

// loads makes every kind of load in dir, and of what they measured every kind of file.
func (h *haystack) loads(t *testing.T, dir, addr, more string) {
	h.said(t, dir, "dyno run -n 20 -c 2 --json run.json "+more+asking(addr))
	h.said(t, dir, "dyno run -n 30 -c 2 --requests-file "+manySecrets(t, t.TempDir())+" "+more+
		"http://me:"+known["URL"]+"@"+addr+"/")
	h.said(t, dir, "dyno find --levels c=1 --rounds 1 --probe-time 1s --json found.json "+more+
		asking(addr))
	for _, r := range renderers {
		h.said(t, dir, "dyno report last -o report"+r.suffix)
	}
	file := filepath.Join(t.TempDir(), "secretive.yaml") // the user's own, and not ours to clean
	if err := os.WriteFile(file, []byte(secretive()), 0o600); err != nil {
		t.Fatal(err)
	}
	h.said(t, dir, "dyno lab run "+more+file+" -o lab")
	h.said(t, dir, "dyno lab run "+more+file) // into the store
	for _, r := range experimentRenderers {
		h.said(t, dir, "dyno lab show lab -o shown"+r.suffix)
	}
	h.said(t, dir, "dyno history")
	h.said(t, dir, "dyno export -o all.tar.gz")
	h.said(t, dir, "dyno compare run.json last")
}

// manySecrets is a file of so many requests that they are stored apart.
func manySecrets(t *testing.T, dir string) string {
	var lines []string
	for i := range 30 {
		lines = append(lines, fmt.Sprintf(`{"url":"/%d?api_key=%s","headers":{"X-Tenant":"%s",`+
			`"Cookie":"sid=%s"},"body":"password=%s"}`, i, known["query"], known["header"], known["cookie"],
			known["field"]))
	}
	file := filepath.Join(dir, "many.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// dashboard has a load made by the form, and looks at everything that a visitor gets.
func (h *haystack) dashboard(t *testing.T, dir, addr string) {
	c := shell(t, dir, "dyno serve --no-open --listen 127.0.0.1:0")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	base, _, _ := strings.Cut(lines.Text(), "/?")
	jar, _ := cookiejar.New(nil)
	browser := http.Client{Jar: jar, Timeout: time.Minute}
	get := func(path string) []byte {
		answer, err := browser.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		b, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %v %.200s", path, answer.StatusCode, err, b)
		}
		h.search("GET "+path, b)
		return b
	}
	get(strings.TrimPrefix(lines.Text(), base))
	form, err := json.Marshal(map[string]any{"requests": "20", "connections": "2",
		"header": []string{"X-Tenant: " + known["header"], "Cookie: sid=" + known["cookie"]},
		"body":   "password=" + known["field"], "url": fmt.Sprintf("http://me:%s@%s/x?api_key=%s",
			known["URL"], addr, known["query"])})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := browser.Post(base+"/api/load", "application/json", bytes.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		t.Errorf("the form was answered with %d", answer.StatusCode)
	}
	h.search("the events of a load", h.events(t, &browser, base+"/api/load/events", "event: end"))
	var results, labs []struct{ ID string }
	json.Unmarshal(get("/api/results"), &results)
	if json.Unmarshal(get("/api/labs"), &labs); len(labs) == 0 || len(results) < 3 {
		t.Errorf("the dashboard lists %d results and %d experiments", len(results), len(labs))
	}
	for _, r := range results {
		get("/api/results/" + r.ID)
		get("/results/" + r.ID)
	}
	for _, l := range labs {
		id := url.PathEscape(l.ID)
		get("/labs/" + id + "/report")
		get("/api/history/labs/" + id)
		h.search("the events of an experiment", h.events(t, &browser, base+"/api/labs/"+id+"/events",
			"event: lab"))
	}
	for _, path := range []string{"/api/history", "/api/form", "/api/experiments"} {
		get(path)
	}
	c.Process.Signal(syscall.SIGTERM)
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// events are those that a browser gets, up to one.
func (h *haystack) events(t *testing.T, browser *http.Client, address, last string) []byte {
	answer, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var all bytes.Buffer
	for lines, ending := bufio.NewReader(answer.Body), false; ; {
		line, err := lines.ReadString('\n')
		all.WriteString(line)
		if err != nil || ending && line == "\n" {
			return all.Bytes()
		}
		ending = ending || strings.HasPrefix(line, last)
	}
}

// No secret that a load was given is in anything that dyno leaves on the disk, prints, or sends to
// a browser; with --show-secrets they are, or this test would look in vain for whatever it likes.
func TestNoSecretIsLeft(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(unhurried(answer(new(atomic.Int64))))
	t.Cleanup(server.Close)
	addr := server.Listener.Addr().String()
	dir := t.TempDir()
	h := &haystack{found: map[string]string{}}
	h.loads(t, dir, addr, "")
	_, hub := started(t, dir, "dyno fleet up --listen 127.0.0.1:0")
	done(t, dir, "sh -c 'dyno fleet token > token'")
	_, agent := started(t, dir, "dyno agent --join @token --name web1")
	await(t, "web1", func() bool { return strings.Contains(done(t, dir, "dyno fleet ls"), "ready") })
	h.said(t, dir, "dyno run --fleet all -n 20 -c 2 --json fleet.json "+asking(addr))
	ended(t, agent)
	ended(t, hub)
	h.dashboard(t, dir, addr)
	h.folder(t, dir)
	for kind, where := range h.found {
		t.Errorf("the secret of the %s is in %s", kind, where)
	}
	if h.items < 60 {
		t.Errorf("only %d files and answers were searched", h.items)
	}
	open := t.TempDir()
	shown := &haystack{found: map[string]string{}}
	shown.loads(t, open, addr, "--show-secrets ")
	shown.folder(t, open)
	for kind := range known {
		if shown.found[kind] == "" {
			t.Errorf("--show-secrets: the secret of the %s is nowhere", kind)
		}
	}
}

// What a variant's environment and its requests are is kept, but for secrets.
func TestHarmlessIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "secretive.yaml")
	if err := os.WriteFile(file, []byte(secretive()), 0o600); err != nil {
		t.Fatal(err)
	}
	h := &haystack{found: map[string]string{}}
	h.said(t, dir, "dyno lab run secretive.yaml -o lab")
	record, err := os.ReadFile(filepath.Join(dir, "lab", "experiment.json"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(dir, "lab", "experiment.yaml"))
	for _, text := range []string{string(record), string(source)} {
		for _, want := range []string{"GOMAXPROCS", "page=1", "X-Tenant", "DYNO_TEST_SECRET", "(redacted-",
			"user", "--listen"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is gone, %v:\n%s", want, err, text)
			}
		}
	}
	trials, _ := filepath.Glob(filepath.Join(dir, "lab", "trials", "*.json"))
	if len(trials) != 2 {
		t.Fatalf("%q", trials)
	}
	var marks []string
	for _, name := range trials {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"failure"`) {
			t.Errorf("%s", text)
		}
		found := regexp.MustCompile(`"X-Tenant",\s*"value": "([^"]*)"`).FindStringSubmatch(string(text))
		if found == nil || !strings.HasPrefix(found[1], "(redacted-") {
			t.Fatalf("%s: %q", name, found)
		}
		marks = append(marks, found[1])
	}
	if len(slices.Compact(marks)) != 1 {
		t.Errorf("one value has the marks %q", marks)
	}
}

// An experiment goes on, and runs again, with its secrets: those of the environment by themselves,
// and literal ones from files. What is missing or another is said.
func TestResumesWithSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := strings.Replace(fleetExperiment, "variants:", `workload:
  request:
    headers: {X-Auth: literal-secret, X-Env: '{{env "DYNO_TEST_SECRET"}}'}
    body: '{"pin": 12345, "name": "x"}'
variants:`, 1)
	for name, content := range map[string]string{"e.yaml": text, "auth": "literal-secret\n",
		"pin": "12345", "wrong": "another"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(line string, code int, want ...string) {
		t.Helper()
		c := shell(t, dir, line)
		c.Env = append(c.Env, "DYNO_TEST_SECRET="+known["environment"])
		out, err := c.CombinedOutput()
		if got := c.ProcessState.ExitCode(); got != code {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		for _, w := range want {
			if !strings.Contains(string(out), w) {
				t.Errorf("%s: it does not say %q:\n%s", line, w, out)
			}
		}
	}
	first := func() os.FileInfo {
		all, _ := filepath.Glob(filepath.Join(dir, "out", "trials", "*.json"))
		if len(all) != 3 {
			t.Fatalf("%q", all)
		}
		info, err := os.Stat(all[0])
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	run("dyno lab run e.yaml -o out", exitOK)
	before := first()
	last, _ := filepath.Glob(filepath.Join(dir, "out", "trials", "r003-*.json"))
	if err := os.Remove(last[0]); err != nil {
		t.Fatal(err)
	}
	run("dyno lab run --resume out", exitUsage, "lacks X-Auth, pin; give what it had: ",
		"--secret X-Auth=@FILE --secret pin=@FILE")
	run("dyno lab run --resume out --secret X-Auth=@auth", exitUsage, "--secret pin=@FILE")
	run("dyno lab run --resume out --secret X-Auth=@wrong --secret pin=@pin", exitUsage,
		"--secret X-Auth", "goes on with the same")
	run("dyno lab run --resume out --secret nosuch=@pin", exitUsage, "no place for it",
		"X-Auth, pin")
	run("dyno lab run --resume out --secret X-Auth=literal", exitUsage, "NAME=@FILE")
	run("dyno lab run --resume out --secret x-auth=@auth --secret pin=@pin", exitOK)
	if after := first(); !os.SameFile(before, after) {
		t.Error("what was measured was measured again")
	}
	run("dyno lab rerun out -o again", exitUsage, "--secret X-Auth=@FILE")
	run("dyno lab run out/experiment.yaml -o third", exitUsage, "--secret X-Auth=@FILE")
	run("dyno lab rerun out -o again --secret X-Auth=@wrong --secret pin=@pin", exitOK,
		"--secret X-Auth: its mark is not")
	for name, same := range map[string]bool{"X-Env": true, "X-Auth": false} {
		of := func(folder string) string {
			all, _ := filepath.Glob(filepath.Join(dir, folder, "trials", "r001-*.json"))
			b, err := os.ReadFile(all[0])
			if err != nil {
				t.Fatal(err)
			}
			return regexp.MustCompile(`"` + name + `",\s*"value": "([^"]*)"`).FindString(string(b))
		}
		if a, b := of("out"), of("again"); a == "" || (a == b) != same {
			t.Errorf("%s: %s, and then %s", name, a, b)
		}
	}
	c := shell(t, dir, "dyno lab rerun out -o none --secret X-Auth=@auth --secret pin=@pin")
	if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != exitUnreachable ||
		!strings.Contains(string(out), "DYNO_TEST_SECRET, which its workload names, is not set") {
		t.Errorf("without the environment: %s", out)
	}
}
