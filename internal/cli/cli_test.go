package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
	"dyno/internal/view/page"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// make goldens sets it, for every package that has goldens.
var update = flag.Bool("update", false, "write the golden files")

// TestMain makes this program dyno when it is started under that name, or under
// one by which no other dyno is found.
func TestMain(m *testing.M) {
	dyno := func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
	testscript.Main(tests{m}, map[string]func(){"dyno": dyno, "watched-dyno": dyno,
		"profiled": profiled, "shop": serveShop})
}

// tests are those of this package. The programs that they start are this one, or the dyno that make
// test has built, whose starts take a sixth less CPU time. With DYNO_RACE=1, which CI sets, they are
// this one: it has the race detector then.
type tests struct{ *testing.M }

// builtEnv names the dyno that make test has built.
const builtEnv = "DYNO_E2E_BINARY"

// Run runs them.
func (m tests) Run() int {
	os.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -ldflags=-w") // nobody debugs what is built here
	if built := os.Getenv(builtEnv); built != "" && os.Getenv("DYNO_RACE") == "" {
		if err := startBuilt(built); err != nil {
			fmt.Fprintln(os.Stderr, "putting the dyno that was built where scripts find it:", err)
			return 2
		}
	}
	return m.M.Run()
}

// startBuilt puts the dyno that was built where the commands of the scripts are found.
func startBuilt(built string) error {
	dyno, err := exec.LookPath("dyno")
	if err != nil {
		return err
	}
	b, err := os.ReadFile(built)
	plain := filepath.Join(filepath.Dir(dyno), "plain")
	if err = errors.Join(err, os.WriteFile(plain, b, 0o755)); err != nil {
		return err
	}
	for _, name := range []string{"dyno", "watched-dyno"} {
		path := filepath.Join(filepath.Dir(dyno), name)
		if err := errors.Join(os.Remove(path), os.Link(plain, path)); err != nil {
			return err
		}
	}
	return nil
}

// TestScripts is the contract of the command line: a file for each behaviour.
// Besides what testscript has, a script has a server at $URL and $TLSURL, whose
// certificate $CA verifies, at $MUTUAL if one shows it a certificate, as $CA with $KEY,
// and which answers with the status that the path
// /status/N names and with the request's body; $CLOSED, where nothing listens;
// and these commands:
//
//	exits CODE dyno ...   runs dyno, which must exit with that code, or one of those: 0,3
//	shows RE dyno ...     runs dyno, which must exit with 0, until its stdout matches RE: what a machine
//	                      without a free CPU may not show, tried a few times
//	served N              fails unless the server counted N requests since last asked
//	appears FILE          waits until there is such a file
//	joined NAME ...       waits until these agents of the fleet answer
//	valid FILE            fails unless the file is what dyno schema result says
//
// $URL has net/http/pprof too, where Go programs have it.
func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/script/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts: %v", len(files), err)
	}
	// Those that take longest begin first, so that at the end nothing waits for one of them.
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(longestFirst(a), longestFirst(b)) })
	testscript.Run(t, testscript.Params{
		Files:         files,
		Setup:         setup,
		UpdateScripts: *update, // the files that cmp names
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "shows": shows, "served": served, "appears": appears, "joined": joined, "valid": valid,
			"drawn": drawn,
		},
	})
}

// longestFirst is the place of a script among those that take more than 20 s, or behind them.
func longestFirst(file string) int {
	long := []string{"vs.txt", "fleetrun.txt", "lab.txt", "labcheck.txt", "objectives.txt", "generators.txt"}
	if i := slices.Index(long, filepath.Base(file)); i >= 0 {
		return i
	}
	return len(long)
}

// shortly has the race detector, in a dyno that has it, wait for less than a
// second before it exits.
const shortly = "atexit_sleep_ms=20"

type counterKey struct{}

func setup(env *testscript.Env) error {
	served := new(atomic.Int64)
	handler := unhurried(answer(served))
	mux := http.NewServeMux()
	mux.Handle("/", handler)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	plain, secure := httptest.NewServer(mux), withTLS(handler, tls.NoClientCert)
	mutual := withTLS(handler, tls.RequireAnyClientCert)
	env.Defer(func() {
		plain.Close()
		secure.Close()
		mutual.Close()
	})
	// Nothing listens at a client's own end, and nobody else gets its port.
	closed, err := net.Dial("tcp", plain.Listener.Addr().String())
	if err != nil {
		return err
	}
	env.Defer(func() { closed.Close() })
	key, err := x509.MarshalPKCS8PrivateKey(secure.TLS.Certificates[0].PrivateKey)
	if err != nil {
		return err
	}
	for name, block := range map[string]pem.Block{
		"CA":  {Type: "CERTIFICATE", Bytes: secure.Certificate().Raw},
		"KEY": {Type: "PRIVATE KEY", Bytes: key}} {
		file := filepath.Join(env.WorkDir, strings.ToLower(name)+".pem")
		if err := os.WriteFile(file, pem.EncodeToMemory(&block), 0o600); err != nil {
			return err
		}
		env.Setenv(name, file)
	}
	env.Values[counterKey{}] = served
	env.Setenv("URL", plain.URL)
	env.Setenv("ADDR", plain.Listener.Addr().String())
	env.Setenv("TLSURL", secure.URL)
	env.Setenv("MUTUAL", mutual.URL)
	env.Setenv("CLOSED", closed.LocalAddr().String())
	env.Setenv("GORACE", shortly)
	env.Setenv("DYNO_HOME", filepath.Join(env.WorkDir, "home"))
	return nil
}

// withTLS is a server of h whose certificate scripts may refuse.
func withTLS(h http.Handler, wants tls.ClientAuthType) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{ClientAuth: wants}
	s.StartTLS()
	return s
}

// answer is a server that counts what it serves.
func answer(served *atomic.Int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if n, found := strings.CutPrefix(r.URL.Path, "/status/"); found {
			status, err := strconv.Atoi(n)
			if err != nil {
				status = http.StatusBadRequest
			}
			w.WriteHeader(status)
		}
		w.Write(append(body, "hello, world"...))
	})
}

// unhurried is a server of h that begins at most 1,000 answers a second. A closed load then shows what
// it shows of a server without a limit, and leaves the CPUs to other tests.
func unhurried(h http.Handler) http.Handler {
	const apart = time.Millisecond
	var mu sync.Mutex
	var next time.Time
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if now := time.Now(); next.Before(now) {
			next = now
		}
		turn := next
		next = next.Add(apart)
		mu.Unlock()
		time.Sleep(time.Until(turn))
		h.ServeHTTP(w, r)
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if !slices.Contains(strings.Split(args[0], ","), fmt.Sprint(code)) {
		ts.Fatalf("%q exits with %d, not %s", args[1:], code, args[0])
	}
}

func shows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: shows RE COMMAND ...")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	const most = 5
	for try := 1; try <= most; try++ {
		ts.Check(ts.Exec(args[1], args[2:]...))
		if want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		ts.Logf("try %d of %d does not show %q", try, most, args[0])
	}
	ts.Fatalf("no try shows %q", args[0])
}

func served(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: served N")
	}
	if n := ts.Value(counterKey{}).(*atomic.Int64).Swap(0); fmt.Sprint(n) != args[0] {
		ts.Fatalf("the server counted %d requests, not %s", n, args[0])
	}
}

func appears(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: appears FILE")
	}
	for range 12000 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	ts.Fatalf("%s does not appear", args[0])
}

func joined(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: joined NAME ...")
	}
	list := ""
	for till := time.Now().Add(2 * time.Minute); time.Now().Before(till); time.Sleep(50 * time.Millisecond) {
		if ts.Exec("dyno", "fleet", "ls") == nil {
			list = ts.ReadFile("stdout")
		}
		ready := func(name string) bool {
			return regexp.MustCompile(`(?m)^ *` + name + ` +(ready|watches) `).MatchString(list)
		}
		if !slices.ContainsFunc(args, func(name string) bool { return !ready(name) }) {
			return
		}
	}
	ts.Fatalf("not all of %q are ready:\n%s", args, list)
}

func valid(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: valid FILE")
	}
	c := jsonschema.NewCompiler()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(result.Schema()))
	ts.Check(err)
	ts.Check(c.AddResource("result.json", doc))
	schema, err := c.Compile("result.json")
	ts.Check(err)
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(schema.Validate(v))
}

// shell is a command line as a shell reads it, in dir.
func shell(t *testing.T, dir, line string) *exec.Cmd {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("examples are for a POSIX shell, and there is none: ", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, sh, "-c", "exec "+line)
	c.Dir = dir
	c.Env = append(os.Environ(), "GORACE="+shortly, "DYNO_HOME="+filepath.Join(dir, "home"))
	return c
}

// runDyno runs dyno in dir, with a home there, and returns its exit code and what it wrote to stdout and
// stderr.
func runDyno(t *testing.T, dir string, args ...string) (code int, out, errs string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "dyno", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GORACE="+shortly, "DYNO_HOME="+filepath.Join(dir, "home"))
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// Flags of an example that say how long it takes.
var (
	timed     = regexp.MustCompile(` (-d|--warmup|--probe-time|--time) \S+`)
	rounds    = regexp.MustCompile(` --rounds \S+`)
	listening = regexp.MustCompile(` --listen \S+`)
)

// Every example in the help does what it says, against a server of ours and for a shorter time.
func TestExamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := httptest.NewServer(unhurried(answer(new(atomic.Int64))))
	t.Cleanup(server.Close)
	mix := `{"url": "/a", "weight": 3}` + "\n" + `{"url": "/b", "body": "x"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "mix.jsonl"), []byte(mix), 0o600); err != nil {
		t.Fatal(err)
	}
	login := []byte("GET {{base}}/\nHTTP 200\n")
	visit := []byte("function request() return wrk.format(nil, '/visit') end\n")
	if err := os.WriteFile(filepath.Join(dir, "visit.lua"), visit, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "login.hurl"), login, 0o600); err != nil {
		t.Fatal(err)
	}
	url := server.URL + "/"
	writeSources(t, dir, server.URL)
	if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte(smallLab), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"base", "head"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"before.json", "after.json", "base/1.json", "head/1.json"} {
		if out, err := shell(t, dir, "dyno -d 500ms -R 1000 --json "+name+" "+url).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for _, v := range verbs() {
		for _, example := range v.examples {
			line := strings.ReplaceAll(example, "http://127.0.0.1:8080", server.URL)
			t.Run(example, func(t *testing.T) {
				if slices.Contains(alone, v.name) {
					t.Parallel()
				}
				switch v.name {
				case "target":
					tryTarget(t, dir, line)
				case "serve":
					tryServe(t, dir, line)
				case "agent", "fleet up", "fleet token", "fleet ls", "fleet revoke", "fleet stop",
					"fleet deploy":
					tryFleet(t, v.name, line)
				case "run":
					try(t, dir, timed.ReplaceAllString(line, "")+" -d 300ms --warmup 50ms", url)
				case "find":
					tryFind(t, dir, line)
				case "vs":
					tryVs(t, line, server.URL)
				case "calibrate":
					tryCalibrate(t, dir, line)
				case "lab run", "lab rerun": // what is shipped takes a minute
					line = strings.Replace(line, "hello --quick", "mine.yaml", 1)
					if out, err := shell(t, dir, line).CombinedOutput(); err != nil {
						t.Fatalf("%s: %v\n%s", line, err, out)
					}
				default:
					try(t, dir, line, "")
				}
			})
		}
	}
}

// tryCalibrate tries an example of dyno calibrate. A machine that is busy may answer nothing on a
// thousand connections in so short a time, which is then said.
func tryCalibrate(t *testing.T, dir, line string) {
	t.Helper()
	out, err := shell(t, dir, timed.ReplaceAllString(line, "")+" --time 100ms").CombinedOutput()
	if err == nil && strings.Contains(string(out), "send lag") {
		return
	}
	exit, failed := errors.AsType[*exec.ExitError](err)
	if !failed || exit.ExitCode() != exitUnreachable || !strings.Contains(string(out), "nothing was answered within") {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
}

// alone are the verbs whose examples have nothing to do with one another's: they mostly wait, or may
// find that the machine is too busy to tell. All of dyno run's must be answered, one after the other.
var alone = []string{"target", "serve", "agent", "fleet up", "fleet token", "fleet ls",
	"fleet revoke", "fleet stop", "fleet deploy", "find", "vs", "calibrate"}

// smallLab is an experiment of a few seconds.
const smallLab = `
version: 1
name: small
design: {rounds: 1, aa: false, warmup: {min: 0, max: 0}, measure: 0.5s, cooldown: 0, metrics: [throughput]}
levels: [{name: c1, connections: 1, rate: 500}]
variants:
  one:
    processes: [{cmd: "{{dyno}} target --listen 127.0.0.1:{{port}}"}]
    url: http://127.0.0.1:{{port}}/
`

// try runs a line, which must succeed and say something, with want in it.
func try(t *testing.T, dir, line, want string) {
	t.Helper()
	c := shell(t, dir, line)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, errs.Bytes())
	}
	if _, file, writes := strings.Cut(line, " -o "); writes {
		if out, err = os.ReadFile(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	if len(out) == 0 || !strings.Contains(string(out), strings.TrimSuffix(want, "/")) {
		t.Errorf("%s: prints %q, and not %q", line, out, want)
	}
}

// tryTarget starts a server, asks it once, and ends it.
func tryTarget(t *testing.T, dir, line string) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM to end a server with")
	}
	c := shell(t, dir, listening.ReplaceAllString(line, "")+" --listen 127.0.0.1:0")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	url, found := strings.CutPrefix(lines.Text(), "listening on ")
	if !found {
		t.Fatalf("the first line is %q", lines.Text())
	}
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, response.Body) // a stream that is left counts as no request
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("status %d", response.StatusCode)
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	lines.Scan()
	if got, want := lines.Text(), "served 1 request on 1 connection"; got != want {
		t.Errorf("the last line is %q, want %q", got, want)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// A run that is interrupted reports what it measured until then.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signal to send to another process")
	}
	ends := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup, for dyno too
		ends = append(ends, syscall.SIGHUP)
	}
	for _, sig := range ends {
		asked := make(chan struct{}, 1)
		served := new(atomic.Int64)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if served.Add(1) == 100 {
				asked <- struct{}{}
			}
		}))
		c := shell(t, t.TempDir(), "dyno -d 1h -c 3 --drain 0 "+server.URL)
		var out bytes.Buffer
		c.Stdout = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		<-asked
		if err := c.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		err := c.Wait()
		if exit, is := errors.AsType[*exec.ExitError](err); !is || exit.ExitCode() != exitInterrupted {
			t.Errorf("%v: %v, want exit status 130", sig, err)
		}
		if !strings.Contains(out.String(), "requests") || !strings.Contains(out.String(), "p99") {
			t.Errorf("%v: no report: %q", sig, out.String())
		}
		server.Close()
	}
}

// What stdout does not take is said, whatever it was.
func TestStdoutFails(t *testing.T) {
	t.Setenv("DYNO_HOME", t.TempDir())
	server := httptest.NewServer(answer(new(atomic.Int64)))
	defer server.Close()
	for _, args := range [][]string{
		{"help"}, {"help", "run"}, {"run", "-h"}, {"version"}, {"schema", "result"},
		{"completion", "bash"}, {"completion", "fish"}, {"run", "-n", "1", "-c", "1", server.URL},
		{"run", "-n", "1", "-c", "1", "-q", server.URL}, {"report", "last"}, {"history"},
	} {
		var errs bytes.Buffer
		code := Main(args, nil, fullDisk{}, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%q: code %d, %s", args, code, errs.String())
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// The table has the seconds of the window, and what came after it is not one.
func TestProgressEndsWithTheWindow(t *testing.T) {
	for _, test := range []struct {
		window time.Duration
		rows   int
	}{{time.Second, 1}, {0, 2}} {
		var b bytes.Buffer
		p := progress{w: &b, table: true, window: test.window}
		p.showInterval(loadresult.Interval{To: time.Second, Completed: 7})
		p.showInterval(loadresult.Interval{From: time.Second, To: 1100 * time.Millisecond, Completed: 1})
		if n := strings.Count(b.String(), "\n"); n != test.rows {
			t.Errorf("a window of %v has %d rows, want %d\n%s", test.window, n, test.rows, b.String())
		}
	}
}

// What listens on all addresses says so.
func TestAt(t *testing.T) {
	for _, test := range []struct {
		asked string
		got   net.Addr
		want  string
	}{
		{"0.0.0.0:0", &net.TCPAddr{IP: net.IPv6unspecified, Port: 80}, "http://0.0.0.0:80"},
		{":0", &net.TCPAddr{IP: net.IPv6unspecified, Port: 80}, "http://[::]:80"},
		{"localhost:0", &net.TCPAddr{IP: net.IPv6loopback, Port: 80}, "http://[::1]:80"},
		{"unix:/run/t.s", &net.UnixAddr{Net: "unix", Name: "/run/t.s"}, "http+unix:///run/t.s:/"},
	} {
		if got := urlHost(test.asked, test.got); got != test.want {
			t.Errorf("%s is %s, want %s", test.asked, got, test.want)
		}
	}
}

// What goes wrong in dyno itself is said to be that.
func TestFault(t *testing.T) {
	var out, errs bytes.Buffer
	code := Main([]string{"run", "--urls", "-", "http://127.0.0.1:1/"}, broken{}, &out, &errs)
	if code != exitFault || !strings.Contains(errs.String(), "dyno: a broken reader\n"+
		"This is a fault of dyno") || !strings.Contains(errs.String(), "cli_test.go") {
		t.Errorf("code %d, %s", code, errs.String())
	}
}

// broken is a reader with a fault.
type broken struct{}

func (broken) Read([]byte) (int, error) { panic("a broken reader") }

// Flags, like everything in the help, fit a terminal.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	for _, v := range verbs() {
		var out bytes.Buffer
		if code := Main([]string{"help", v.name}, nil, &out, io.Discard); code != exitOK {
			t.Errorf("help %s exits with %d", v.name, code)
		}
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(line)) - 1; n > 100 {
				t.Errorf("help %s: %d columns: %s", v.name, n, line)
			}
		}
		var same bytes.Buffer
		Main([]string{v.name, "--help"}, nil, &same, io.Discard)
		if !bytes.Equal(out.Bytes(), same.Bytes()) {
			t.Errorf("dyno help %s and dyno %s --help differ", v.name, v.name)
		}
	}
}

// drawn writes the data of a page into a file: drawn PAGE FILE.
func drawn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: drawn PAGE FILE")
	}
	data, err := page.Data([]byte(ts.ReadFile(args[0])))
	if err == nil {
		err = os.WriteFile(ts.MkAbs(args[1]), data, 0o600)
	}
	if err != nil {
		ts.Fatalf("%v", err)
	}
}
