package dyno_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dyno"
	"dyno/internal/result"
)

var update = flag.Bool("update", false, "write the goldens")

// library are the packages that other programs import.
var library = []string{".", "dynotest"}

// exportedMost is how many names the library may export, methods included.
const exportedMost = 40

// parsePackage are the files of a package of the library, without tests.
func parsePackage(t *testing.T, dir string) (set *token.FileSet, files []*ast.File) {
	t.Helper()
	set = token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return set, files
}

// exported is what files export: as text, and the names, of methods with their types'.
func exported(t *testing.T, set *token.FileSet, files []*ast.File) (text string, names []string) {
	t.Helper()
	var all []string
	for _, file := range files {
		ast.FileExports(file)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				if d.Tok == token.IMPORT {
					continue
				}
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						names = append(names, spec.Name.Name)
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							names = append(names, name.Name)
						}
					}
				}
			case *ast.FuncDecl:
				d.Body = nil
				name := d.Name.Name
				if d.Recv != nil {
					name = receiver(d) + "_" + name
				}
				names = append(names, name)
			}
			var b bytes.Buffer
			if err := printer.Fprint(&b, set, d); err != nil {
				t.Fatal(err)
			}
			all = append(all, b.String())
		}
	}
	slices.Sort(all)
	slices.Sort(names)
	return strings.Join(all, "\n\n") + "\n", names
}

func receiver(d *ast.FuncDecl) string {
	of := d.Recv.List[0].Type
	if star, is := of.(*ast.StarExpr); is {
		of = star.X
	}
	return of.(*ast.Ident).Name
}

// What the library exports is what testdata/api.txt says: a change to it is made on purpose. No
// name of another package of this module is in it, because other modules cannot import those.
func TestAPI(t *testing.T) {
	var b strings.Builder
	count := 0
	for _, dir := range library {
		set, files := parsePackage(t, dir)
		text, names := exported(t, set, files)
		count += len(names)
		fmt.Fprintf(&b, "package %s\n\n%s\n", files[0].Name.Name, text)
	}
	if count > exportedMost {
		t.Errorf("the library exports %d names, at most %d", count, exportedMost)
	}
	got := b.String()
	for _, word := range regexp.MustCompile(`\b[a-z]\w*\.[A-Z]\w*`).FindAllString(got, -1) {
		of, _, _ := strings.Cut(word, ".")
		if !slices.Contains([]string{"context", "http", "time", "rand", "testing", "dyno"}, of) {
			t.Errorf("%s is of a package that others cannot import", word)
		}
	}
	const golden = "testdata/api.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("the library exports something else than %s says; what is taken away or changed "+
			"breaks programs. If it is meant, go test . -update writes:\n%s", golden, got)
	}
}

// Every exported name has an example, which runs as a test; a constant is used in one.
func TestExamples(t *testing.T) {
	for _, dir := range library {
		set, files := parsePackage(t, dir)
		_, names := exported(t, set, files)
		paths, err := filepath.Glob(filepath.Join(dir, "example*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var text []byte
		for _, path := range paths {
			part, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text = append(text, part...)
		}
		for _, name := range names {
			isConstant := name == "OK" || name == "Suspect" || name == "ClientBound"
			if isConstant && bytes.Contains(text, []byte("dyno."+name)) {
				continue
			}
			at := bytes.Index(text, []byte("func Example"+name+"() {"))
			if at < 0 {
				t.Errorf("%s: %s has no example", dir, name)
				continue
			}
			body, _, _ := bytes.Cut(text[at:], []byte("\n}\n"))
			if !bytes.Contains(body, []byte("// Output:")) {
				t.Errorf("%s: the example of %s has no output, so it does not run", dir, name)
			}
		}
	}
}

// The verdicts are those of a stored result.
func TestVerdicts(t *testing.T) {
	for verdict, stored := range map[dyno.Verdict]string{dyno.OK: result.OK,
		dyno.Suspect: result.Suspect, dyno.ClientBound: result.ClientBound} {
		if string(verdict) != stored {
			t.Errorf("%s is stored as %s", verdict, stored)
		}
	}
}

// A fault names fields, never flags, and a scenario that goes on as it may not is one.
func TestFaults(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	again := func(*dyno.User, *dyno.Response) (*dyno.Request, error) { return &dyno.Request{}, nil }
	for _, test := range []struct {
		load dyno.Load
		want string
	}{
		{dyno.Load{}, "URL"}, {dyno.Load{URL: "x"}, "URL"},
		{dyno.Load{Threads: -1}, "Threads"}, {dyno.Load{Rate: -1}, "Rate"},
		{dyno.Load{Requests: 1, Connections: 5}, "Requests"}, {dyno.Load{For: -1}, "For"},
		{dyno.Load{Poisson: true}, "Poisson"}, {dyno.Load{Warmup: -1}, "Warmup"},
		{dyno.Load{Drain: -1}, "Drain"}, {dyno.Load{HTTP: "4"}, "HTTP"}, {dyno.Load{HTTP: "3"}, "HTTP"},
		{dyno.Load{Expect: "2xx,999"}, "Expect"}, {dyno.Load{Rate: 100_000_001}, "Rate"},
		{dyno.Load{Insecure: true}, "Insecure, RootCAs"}, {dyno.Load{Users: 1}, "Steps, Users"},
		{dyno.Load{Method: "A B"}, "Method, Header, Body"},
		{dyno.Load{Header: http.Header{"Content-Length": {"5"}}, Body: []byte("x")}, "Method, Header, Body"},
		{dyno.Load{Header: http.Header{"Transfer-Encoding": {"gzip"}}}, "Method, Header, Body"},
		{dyno.Load{Method: "GET", Scenario: again}, "Method, Header, Body"},
		{dyno.Load{Scenario: again, Requests: 4}, "Scenario"},
		{dyno.Load{Scenario: again, Users: -1}, "Users"},
		{dyno.Load{URL: "https://localhost", RootCAs: []byte("x")}, "RootCAs"},
	} {
		if test.load.URL == "" && test.want != "URL" {
			test.load.URL = server.URL
		}
		_, err := dyno.Run(context.Background(), test.load)
		one, is := errors.AsType[dyno.FieldError](err)
		if !is || one.Field != test.want {
			t.Errorf("%+v: %v, want a fault of %s", test.load, err, test.want)
		}
		if err != nil && regexp.MustCompile(`(^|[ ,(])--?[a-zA-Z]`).MatchString(err.Error()) {
			t.Errorf("a flag in %q", err)
		}
	}
}

// The context ends a load, and what was measured until then is the result.
func TestRunEnds(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stop() }))
	defer server.Close()
	r, err := dyno.Run(ctx, dyno.Load{URL: server.URL, Connections: 1, For: time.Hour})
	if err != nil || r.Ended != "interrupted" || r.Sent == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A context that had ended before ends the load at once, and so nothing is sent.
func TestRunEndedBefore(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	for _, url := range []string{server.URL, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)} {
		r, err := dyno.Run(ctx, dyno.Load{URL: url, Connections: 1, For: time.Hour})
		if err != nil || r.Ended != "interrupted" || r.Sent != 0 {
			t.Errorf("%s: %+v, %v", url, r, err)
		}
	}
}

// Several loads can be made at once.
func TestRunTwice(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 2,
				Requests: 100, Drain: time.Minute})
			if err != nil || r.Completed != 100 {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
	group.Wait()
}

// What is on the wire is what a Load has: its Host, its own credentials, and braces as they stand.
func TestWire(t *testing.T) {
	seen := make(chan *http.Request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r
	}))
	defer server.Close()
	url := strings.Replace(server.URL, "://", "://ada:secret@", 1)
	for _, test := range []struct {
		header http.Header
		path   string
		host   string
		auth   string
	}{
		{nil, "/a", "", "Basic YWRhOnNlY3JldA=="},
		{http.Header{"Host": {"shop.example"}}, "/{{seq}}?x={{y}}", "shop.example", "Basic YWRhOnNlY3JldA=="},
		{http.Header{"host": {"shop.example:8080"}, "X-Brace": {"{{seq}}"}}, "/a", "shop.example:8080",
			"Basic YWRhOnNlY3JldA=="},
		{http.Header{"authorization": {"Bearer x"}}, "/a", "", "Bearer x"},
	} {
		r, err := dyno.Run(context.Background(), dyno.Load{URL: url + test.path, Header: test.header,
			Body: []byte("{{seq}}"), Connections: 1, Requests: 1, Drain: time.Minute})
		if err != nil || r.Completed != 1 {
			t.Fatal(r, err)
		}
		got := <-seen
		if test.host == "" {
			test.host = strings.TrimPrefix(server.URL, "http://")
		}
		if auth := got.Header["Authorization"]; got.Host != test.host || got.RequestURI != test.path ||
			!slices.Equal(auth, []string{test.auth}) {
			t.Errorf("%+v: host %q, path %q, authorization %q", test, got.Host, got.RequestURI, auth)
		}
		if brace := test.header.Get("X-Brace"); got.Header.Get("X-Brace") != brace {
			t.Errorf("%q, not %q", got.Header.Get("X-Brace"), brace)
		}
		checkStored(t, r)
	}
}

// Each second is reported once, and together they are the result.
func TestIntervals(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	var sum dyno.Interval
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Rate: 200, Connections: 2,
		Warmup: 100 * time.Millisecond, For: 1500 * time.Millisecond, Drain: time.Minute,
		Each: func(iv dyno.Interval) {
			sum.Sent, sum.Completed = sum.Sent+iv.Sent, sum.Completed+iv.Completed
			sum.Errors, sum.To = sum.Errors+iv.Errors, iv.To
		}})
	if err != nil || r.Sent != 300 || sum.Sent != r.Sent || sum.Completed != r.Completed ||
		sum.Errors != r.Errors || sum.To < r.Measured {
		t.Errorf("%+v of %+v, %v", sum, r, err)
	}
}

// A server that is not there is a result.
func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 1, For: time.Second})
	if err != nil || r.Ended != "unreachable" || len(r.Failures) == 0 || r.String() == "" {
		t.Errorf("%+v, %v", r, err)
	}
}

// Percentile returns Min for 0 or less and Max for 100 or more. Without a histogram it knows the
// percentiles that JSON has.
func TestPercentile(t *testing.T) {
	before, _ := storedRuns()
	l := before[0].Latency
	for percent, want := range map[float64]time.Duration{-1: l.Min, 0: l.Min, 99: l.P99, 100: l.Max, 101: l.Max} {
		if got := l.Percentile(percent); got != want {
			t.Errorf("percentile %v is %v, want %v", percent, got, want)
		}
	}
	var again dyno.Result
	text := regexp.MustCompile(`"hdr":"[^"]*"`).ReplaceAllString(jsonOf(t, before[0]), `"hdr":""`)
	if err := json.Unmarshal([]byte(text), &again); err != nil {
		t.Fatal(err)
	}
	if l := again.Latency; l.Percentile(99.99) == 0 || l.Percentile(95) != l.P95 || l.Percentile(94) != 0 {
		t.Errorf("without a histogram: %v, %v, %v", l.Percentile(99.99), l.Percentile(95), l.Percentile(94))
	}
}

// hello is a program in a module of its own, which has this one by replace.
var hello = map[string]string{
	"hello.go": `package hello

import (
	"fmt"
	"net/http"
)

// Handler says hello.
var Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") })
`,
	"hello_test.go": `package hello

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"MODULE"
	"MODULE/dynotest"
)

func TestHello(t *testing.T) {
	dynotest.Objective(t, Handler, "errors<0.1%", dyno.Load{Rate: 500, Requests: 100})
}

func TestRun(t *testing.T) {
	server := httptest.NewServer(Handler)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 4, Requests: 100,
		Drain: time.Minute})
	if err != nil || r.Completed != 100 {
		t.Fatal(r, err)
	}
}

func BenchmarkHello(b *testing.B) { dynotest.Benchmark(b, Handler, dyno.Load{}) }
`}

// The library is used from another module with nothing but a replace. Go then reads go.mod files
// that dyno's own build does not need. It may fetch them.
func TestOtherModule(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range hello {
		text = strings.ReplaceAll(text, "MODULE", modulePath(t))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	module := fmt.Sprintf("module hello\n\ngo 1.26.0\n\nrequire %[1]s v0.0.0\n\nreplace %[1]s => %s\n",
		modulePath(t), here)
	sums, err := os.ReadFile("go.sum")
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o644),
		os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-trimpath", "-mod=mod", "-v", "-bench", ".", "-benchtime", "20x", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"--- PASS: TestRun", "ns/op", "p50-ns", "p99-ns", "req/s"} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// make module MODULE=PATH gives the module another path, in one step: all packages are found then.
func TestModulePath(t *testing.T) {
	dir := t.TempDir()
	for _, path := range sources(t) {
		copyFile(t, path, filepath.Join(dir, path))
	}
	for _, path := range []string{"go.mod", "go.sum", "Makefile", "bench/module.sh"} {
		copyFile(t, path, filepath.Join(dir, path))
	}
	const path = "example.org/load/dyno"
	run := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run("make", "-s", "module", "MODULE="+path)
	missing := run("go", "list", "-e", "-f", `{{.ImportPath}}
{{range .DepsErrors}}{{.Err}}
{{end}}`, "./...")
	if !strings.Contains(missing, path+"/internal/cli\n") {
		t.Errorf("the packages are\n%s", missing)
	}
	for line := range strings.Lines(missing) {
		line = strings.TrimSpace(line)
		embeds := strings.Contains(line, "no matching files found") // which were not copied
		if line != "" && !embeds && !strings.HasPrefix(line, path) {
			t.Error(line)
		}
	}
	old := regexp.MustCompile(`"` + modulePath(t) + `/(internal|cmd|bench|e2e|dynotest)\b`)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".go") {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if old.Match(text) {
				t.Errorf("%s has the old path", name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, text, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// With Follow a request counts once, with its last response, and redirects to elsewhere are errors.
func TestFollow(t *testing.T) {
	var received atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		received.Add(1)
		switch body, _ := io.ReadAll(r.Body); r.URL.Path {
		case "/":
			http.Redirect(rw, r, "/next", http.StatusTemporaryRedirect)
		case "/away":
			http.Redirect(rw, r, "https://elsewhere.test/", http.StatusFound)
		default:
			fmt.Fprintf(rw, "%s %s", r.Method, body)
		}
	}))
	t.Cleanup(server.Close)
	for _, test := range []struct {
		path            string
		follow          int
		received, right int64
		status          int
	}{{"/", 0, 10, 10, 307}, {"/", 1, 20, 10, 200}, {"/away", 1, 10, 0, 302}} {
		received.Store(0)
		r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL + test.path, Body: []byte("{{x}}"), Follow: test.follow,
			Connections: 2, Requests: 10})
		if err != nil || received.Load() != test.received || r.Completed != test.right || r.Sent != 10 ||
			r.Status[test.status] != 10 {
			t.Errorf("%+v: %d received, %+v, %v", test, received.Load(), r, err)
		}
	}
	scenario := func(*dyno.User, *dyno.Response) (*dyno.Request, error) { return nil, nil }
	_, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: scenario, Follow: 1})
	_, err2 := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Follow: 101})
	if err == nil || !strings.Contains(err.Error(), "Follow: a Scenario is given each redirect") || err2 == nil ||
		!strings.Contains(err2.Error(), "Follow: 101 is not within 0 to 100") {
		t.Errorf("%v; %v", err, err2)
	}
}
