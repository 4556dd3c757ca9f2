package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/fcgi"
	"net/http/httptest"
	"os"
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

	"dyno/internal/engine/loadplan"
	"dyno/internal/result"
	commands "dyno/internal/view/repeat"
)

// A recorder is a server that keeps what it was sent, and repeats the body of a request.
type recorder struct {
	*httptest.Server
	mu  sync.Mutex
	all map[string]int // how often each request came
}

// record starts a recorder that keeps what of says of a request.
func record(t *testing.T, of func(r *http.Request, body []byte) string) *recorder {
	rec := &recorder{all: map[string]int{}}
	rec.Server = httptest.NewServer(rec.handler(of))
	t.Cleanup(rec.Close)
	return rec
}

func (rec *recorder) handler(of func(r *http.Request, body []byte) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // it ended within the request
		}
		rec.mu.Lock()
		rec.all[of(r, body)]++
		rec.mu.Unlock()
		w.Write(body)
	})
}

// recordFastCGI is record of a server that speaks FastCGI.
func recordFastCGI(t *testing.T, of func(r *http.Request, body []byte) string) *recorder {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	rec := &recorder{all: map[string]int{}, Server: &httptest.Server{URL: "fcgi://" + l.Addr().String()}}
	go fcgi.Serve(l, rec.handler(of)) // until l is closed
	return rec
}

// take returns what came since it was called last.
func (rec *recorder) take() map[string]int {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	all := rec.all
	rec.all = map[string]int{}
	return all
}

// whole is a request as one line, without what dyno adds to each.
func whole(r *http.Request, body []byte) string {
	s := r.Method + " " + r.RequestURI
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if name != "User-Agent" && name != "Content-Length" {
			s += fmt.Sprintf(" [%s: %s]", name, strings.Join(r.Header[name], "; "))
		}
	}
	if len(body) > 0 {
		s += fmt.Sprintf(" %q", body)
	}
	return s
}

// inFolder makes a folder with files the working directory, and the home of dyno.
func inFolder(t *testing.T, files map[string]string) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("DYNO_HOME", filepath.Join(dir, "home"))
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// runHereAs is Main with words and a URL. It returns the exit code and what stderr has.
func runHereAs(t *testing.T, url string, args ...string) (code int, said string) {
	var out, errs bytes.Buffer
	code = Main(append([]string{"run", "--no-save"}, append(args, url)...), strings.NewReader(""),
		&out, &errs)
	return code, errs.String()
}

// The requests that arrive are those that flags and files say, with their holes filled.
func TestFilledRequestsArrive(t *testing.T) {
	inFolder(t, map[string]string{
		"people.csv":   "email,token\na@x.org,t1\n\"b, c\",t2\n",
		"people.jsonl": `{"id": 7, "name": "\u00e4", "tags": ["x", 1]}` + "\n",
		"head":         "X-One: 1\n\n# none\nX-Two: {{token}}\n",
		"body.json":    "{\"to\": \"{{email}}\",\n \"n\": {{seq}}}\n",
		"braces.json":  `{"a": "\{{x}} {{"{{y"}}", "n": {{seq}}}`,
		"mixed.jsonl": `{"url": "/a", "weight": 2, "body": {"a": ["{{email}}"]}}` + "\n" +
			`{"url": "/b?t={{token}}", "method": "PUT", "body_base64": "e3tub319"}`,
		"urls":   "/u/{{token}}\n/v\n",
		"bodies": "one {{email}}\n",
		"up.txt": "{{no hole}}",
	})
	t.Setenv("TENANT", "acme")
	rec := record(t, whole)
	for _, test := range []struct {
		args, path string
		want       []string // requests that came once; "2× " before one that came twice
	}{
		{`-H|X-A: {{x}}`, "/", nil},
		{`-H|X-A: \{{x}} {{"{{x}}\\"}}{{env "TENANT"}} {{v}}|--variable|v=a=b`, "/", []string{
			`4× GET / [X-A: {{x}} {{x}}\acme a=b]`}},
		{"--data|people.csv|-H|X-T: {{token}}", "/?e={{seq}}", []string{
			"GET /?e=1 [X-T: t1]", "GET /?e=2 [X-T: t2]", "GET /?e=3 [X-T: t1]", "GET /?e=4 [X-T: t2]"}},
		{"--data|people.csv|-b|{{email}}|--data-order|once", "/", []string{
			`POST / "a@x.org"`, `POST / "b, c"`}},
		{"--data|people.jsonl|-b|{{id}} {{name}} {{tags}}", "/", []string{`4× POST / "7 ä [\"x\", 1]"`}},
		{"--data|people.csv|-H|@head", "/", []string{
			"2× GET / [X-One: 1] [X-Two: t1]", "2× GET / [X-One: 1] [X-Two: t2]"}},
		{"--data|people.csv|--json-body|body.json|-n|2", "/", []string{
			`POST / [Content-Type: application/json] "{\"to\": \"a@x.org\",\n \"n\": 1}\n"`,
			`POST / [Content-Type: application/json] "{\"to\": \"b, c\",\n \"n\": 2}\n"`}},
		{"--data|people.csv|--requests-file|mixed.jsonl|-n|3", "/", []string{
			`POST /a "{\"a\": [\"a@x.org\"]}"`, `PUT /b?t=t2 "{{no}}"`, `POST /a "{\"a\": [\"a@x.org\"]}"`}},
		{"--data|people.csv|--urls|urls|--bodies|bodies|-n|2", "/", []string{
			`POST /u/t1 "one a@x.org"`, `POST /v "one b, c"`}},
		{"-u|me:pass:word", "/", []string{"4× GET / [Authorization: Basic bWU6cGFzczp3b3Jk]"}},
		{"--form|a=b c|--form|d={{seq}}&|-n|1", "/", []string{
			`POST / [Content-Type: application/x-www-form-urlencoded] "a=b+c&d=1%26"`}},
		{`--form|a=\{{x}} {{seq}}|--form|b={{"{{y"}}\{{|-n|1`, "/", []string{
			`POST / [Content-Type: application/x-www-form-urlencoded] "a=%7B%7Bx%7D%7D+1&b=%7B%7By%7B%7B"`}},
		{"--json-body|braces.json|-n|1", "/", []string{
			`POST / [Content-Type: application/json] "{\"a\": \"{{x}} {{y\", \"n\": 1}"`}},
		{"--form|a=b|-X|PUT|-H|content-type: text/x", "/", []string{
			`4× PUT / [Content-Type: text/x] "a=b"`}},
		{"--form|a=b|-H|Content-Type: multipart/form-data", "/", []string{`4× POST / ` +
			`[Content-Type: multipart/form-data; boundary=dyno-form-5f1c0d6b9a7e4c23] ` +
			`"--dyno-form-5f1c0d6b9a7e4c23\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n` +
			`--dyno-form-5f1c0d6b9a7e4c23--\r\n"`}},
		{"--form|a=b|-H|Content-Type: multipart/form-data; boundary=x", "/", []string{`4× POST / ` +
			`[Content-Type: multipart/form-data; boundary=x] ` +
			`"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--x--\r\n"`}},
		{"--form|f=@up.txt|-H|content-type: multipart/mixed", "/", []string{`4× POST / ` +
			`[Content-Type: multipart/mixed; boundary=dyno-form-5f1c0d6b9a7e4c23] ` +
			`"--dyno-form-5f1c0d6b9a7e4c23\r\nContent-Disposition: form-data; name=\"f\"; filename=\"up.txt\"\r\n` +
			`Content-Type: application/octet-stream\r\n\r\n{{no hole}}\r\n--dyno-form-5f1c0d6b9a7e4c23--\r\n"`}},
		{"--form|a=b|--form|f=@up.txt", "/", []string{`4× POST / ` +
			`[Content-Type: multipart/form-data; boundary=dyno-form-5f1c0d6b9a7e4c23] ` +
			`"--dyno-form-5f1c0d6b9a7e4c23\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n` +
			`--dyno-form-5f1c0d6b9a7e4c23\r\nContent-Disposition: form-data; name=\"f\"; filename=\"up.txt\"\r\n` +
			`Content-Type: application/octet-stream\r\n\r\n{{no hole}}\r\n--dyno-form-5f1c0d6b9a7e4c23--\r\n"`}},
	} {
		args := append([]string{"-c", "1", "-n", "4", "--drain", "1m"}, strings.Split(test.args, "|")...)
		if strings.Contains(test.args, "once") || strings.Contains(test.args, "-n|") {
			args = slices.Delete(args, 2, 4)
		}
		code, said := runHereAs(t, rec.URL+test.path, args...)
		want := map[string]int{}
		for _, line := range test.want {
			n := 1
			if count, rest, several := strings.Cut(line, "× "); several {
				n, _ = strconv.Atoi(count)
				line = rest
			}
			want[line] += n
		}
		if got := rec.take(); !maps.Equal(got, want) || (code == exitOK) != (test.want != nil) {
			t.Errorf("%s\n got %v, code %d %s\nwant %v", test.args, got, code, said, want)
		}
	}
}

// Functions give what they say, and one seed the same again.
func TestSeedsRepeat(t *testing.T) {
	inFolder(t, map[string]string{"d.csv": "v\n1\n2\n3\n4\n5\n"})
	rec := record(t, func(r *http.Request, _ []byte) string { return r.RequestURI })
	var all []map[string]int
	for _, seed := range []string{"7", "7", "8"} {
		code, said := runHereAs(t, rec.URL+"/{{uuid}}/{{int 1 6}}/{{hex 4}}/{{v}}", "-c", "1", "-n", "50",
			"--data", "d.csv", "--data-order", "random", "--seed", seed, "--drain", "1m")
		if code != exitOK {
			t.Fatal(said)
		}
		all = append(all, rec.take())
	}
	if len(all[0]) != 50 || !maps.Equal(all[0], all[1]) || maps.Equal(all[0], all[2]) {
		t.Errorf("seed 7 sent\n%v, then\n%v, and seed 8\n%v", all[0], all[1], all[2])
	}
}

// With --data-order once each of 1,500 rows reaches the server once, whatever the threads,
// connections and protocol.
func TestOnceIsExact(t *testing.T) {
	const rows = 1500
	var file strings.Builder
	file.WriteString("id\n")
	for i := range rows {
		fmt.Fprintln(&file, i)
	}
	inFolder(t, map[string]string{"ids.csv": file.String()})
	id := func(r *http.Request, _ []byte) string { return r.URL.Query().Get("id") }
	plain := record(t, id)
	second := &recorder{all: map[string]int{}}
	second.Server = httptest.NewUnstartedServer(second.handler(id))
	second.EnableHTTP2 = true
	second.StartTLS()
	defer second.Close()
	clear := &recorder{all: map[string]int{}}
	clear.Server = httptest.NewUnstartedServer(clear.handler(id))
	clear.Config.Protocols = new(http.Protocols)
	clear.Config.Protocols.SetUnencryptedHTTP2(true)
	clear.Start()
	defer clear.Close()
	clear.URL = strings.Replace(clear.URL, "http:", "h2c:", 1)
	cgi := recordFastCGI(t, id)
	for _, test := range []struct {
		at   *recorder
		args string
	}{
		{plain, "-t 2 -c 3 --pipeline 8"}, {clear, "-t 2 -c 3 --streams 9"},
		{cgi, "-t 2 -c 3"}, {plain, "-t 1 -c 1"}, {plain, "-t 1 -c 7"}, {plain, "-t 2 -c 13"}, {plain, "-t 3 -c 5"},
		{plain, "-t 2 -c 3 --reconnect 10"}, {plain, "-t 2 -c 3 --users 11"}, {plain, "-t 2 -c 7 -R 100k"},
		{second, "-t 1 -c 1 --streams 7 --http 2 --insecure"},
		{second, "-t 2 -c 3 --streams 5 --http 2 --insecure"},
		{second, "-t 3 -c 5 --streams 3 --http 2 --insecure"},
	} {
		code, said := runHereAs(t, test.at.URL+"/?id={{id}}",
			append(strings.Fields(test.args), "--data", "ids.csv", "--data-order", "once", "--drain", "5m")...)
		got := test.at.take()
		twice := 0
		for _, n := range got {
			if n > 1 {
				twice++
			}
		}
		if code != exitOK || len(got) != rows || twice > 0 {
			t.Errorf("%s: %d of %d rows came, %d more than once; code %d %s", test.args, len(got), rows,
				twice, code, said)
		}
	}
}

// A run that is interrupted has sent no row twice.
func TestOnceInterrupted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signal to send to another process")
	}
	dir := t.TempDir()
	file := bytes.NewBufferString("id\n")
	for i := range 1_000_000 {
		fmt.Fprintln(file, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "ids.csv"), file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	asked, served := make(chan struct{}), new(atomic.Int64)
	rec := record(t, func(r *http.Request, _ []byte) string {
		if served.Add(1) == 1000 {
			close(asked)
		}
		return r.URL.Query().Get("id")
	})
	c := shell(t, dir, "dyno run -c 7 -t 2 --data ids.csv --data-order once --no-save '"+rec.URL+"/?id={{id}}'")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); c.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("%v, want exit status 130", err)
	}
	rec.Close() // waits for what is served
	for id, n := range rec.take() {
		if n != 1 {
			t.Errorf("row %s came %d times", id, n)
		}
	}
}

// Each request of a file is judged by its own statuses: alone, with users, in a replay, and in a
// process apart. The result has them, and names them to who repeats it.
func TestStatusesOfRequests(t *testing.T) {
	lines := `{"at_s": 0, "url": "/status/404", "expect_status": 404}` + "\n" +
		`{"at_s": 0.01, "url": "/status/200", "expect_status": "2xx,404"}` + "\n" +
		`{"at_s": 0.02, "url": "/status/404?"}` + "\n" + `{"at_s": 0.03, "url": "/status/200?", "expect_status": [404, "5xx"]}`
	inFolder(t, map[string]string{"replay.jsonl": lines, "one.jsonl": `{"url": "/status/404", "expect_status": ["2xx", 404]}`,
		"mix.jsonl": regexp.MustCompile(`"at_s": [0-9.]*, `).ReplaceAllString(lines, "")})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/status/"))
		w.WriteHeader(status)
	}))
	defer server.Close()
	for _, test := range []struct {
		args   string
		errors string
		asked  int
	}{
		{"--requests-file|mix.jsonl|-n|40", "200 10, 404 10", 4},
		{"--requests-file|mix.jsonl|-n|40|--users|3", "200 10, 404 10", 4},
		{"--requests-file|mix.jsonl|-n|40|--expect|any", "200 10", 4},
		{"--requests-file|mix.jsonl|-n|40|--expect-header|Date", "200 10, 404 10", 4},
		{"--requests-file|replay.jsonl", "200 1, 404 1", 4},
		{"--requests-file|one.jsonl|-n|10", "", 1},
	} {
		code, said := runHereAs(t, server.URL+"/", append(strings.Split(test.args, "|"), "-c", "1", "--drain", "1m",
			"--json", "out.json")...)
		text, err := os.ReadFile("out.json")
		var r result.Result
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		var errors []string
		for _, e := range r.Errors {
			errors = append(errors, fmt.Sprintf("%s %d", e.Detail, e.Count))
		}
		slices.Sort(errors)
		if code != exitOK || err != nil || strings.Join(errors, ", ") != test.errors || len(r.Plan.Requests) != test.asked {
			t.Errorf("%s: code %d %s, %v, errors %v", test.args, code, said, err, errors)
		}
		if own := r.Plan.Requests[0].Expect; own == nil || !slices.Contains(own.Status, loadplan.Statuses{From: 404, To: 404}) {
			t.Errorf("%s: the result has %+v", test.args, own)
		}
		if line, _ := commands.Command(r.Plan, "dyno", "run"); strings.Contains(line, "--expect 2xx,404 ") != (test.asked == 1) {
			t.Errorf("%s: repeated by %s", test.args, line)
		}
	}
}

// Wrong answers are counted exactly, and miss an objective.
func TestChecksAreCounted(t *testing.T) {
	inFolder(t, map[string]string{"mix.jsonl": `{"url": "/json", "expect_body": "json:$.ok==true"}` + "\n" +
		`{"url": "/any", "expect_body": []}` + "\n" +
		`{"url": "/head", "expect_header": ["X-Kind", "Content-Type: text/plain"]}`})
	served := new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := served.Add(1)
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("X-Kind", "a")
		switch {
		case r.URL.Path == "/json":
			fmt.Fprintf(w, `{"ok": %v}`, n%2 == 0)
		case n%10 == 0:
			io.WriteString(w, "wrong")
		default:
			io.WriteString(w, "all right")
		}
	}))
	defer server.Close()
	check := func(wantCode int, path, args string, errors int64, checks ...result.CheckCount) {
		served.Store(0)
		code, said := runHereAs(t, server.URL+path, append(strings.Split(args, "|"), "-c", "1", "--drain", "1m",
			"--json", "out.json")...)
		text, err := os.ReadFile("out.json")
		var r result.Result
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if code != wantCode || err != nil || r.Requests.Errors != errors || !slices.Equal(r.Checks, checks) {
			t.Errorf("%s: code %d %s, %v, %d errors %+v, checks %+v", args, code, said, err, r.Requests.Errors,
				r.Errors, r.Checks)
		}
	}
	check(exitOK, "/", "-n|1000|--expect-body|contains:right", 100,
		result.CheckCount{Name: "contains:right", Passed: 900, Failed: 100})
	check(exitMissed, "/", "-n|100|--expect-body|regex:^all|--slo|errors<1%", 10,
		result.CheckCount{Name: "regex:^all", Passed: 90, Failed: 10})
	check(exitOK, "/", "-n|100|--expect-body|contains:right|--expect-header|X-Kind: b|--expect-header|X-Kind",
		100, result.CheckCount{Name: "X-Kind: b", Failed: 100}, result.CheckCount{Name: "X-Kind", Passed: 100},
		result.CheckCount{Name: "contains:right", Passed: 90, Failed: 10})
	check(exitOK, "/", "-n|300|--requests-file|mix.jsonl|--expect-body|contains:right", 50+10,
		result.CheckCount{Name: "json:$.ok==true", Passed: 50, Failed: 50},
		result.CheckCount{Name: "X-Kind", Passed: 100},
		result.CheckCount{Name: "Content-Type: text/plain", Passed: 100},
		result.CheckCount{Name: "contains:right", Passed: 90, Failed: 10})
}

// A fleet is sent at most 32 MB of data; more is refused before an agent is asked.
func TestDataOfAFleetIsLimited(t *testing.T) {
	inFolder(t, map[string]string{"big.csv": "v\n" + strings.Repeat(strings.Repeat("x", 4095)+"\n", 8<<10) + "x\n"})
	code, said := runHereAs(t, "http://127.0.0.1:1/{{v}}", "--fleet", "all", "--data", "big.csv")
	if code != exitUsage || !strings.Contains(said, "big.csv: is larger than 32 MB") {
		t.Errorf("code %d: %s", code, said)
	}
	if _, faults := readRun([]string{"--data", "big.csv", "http://127.0.0.1:1/{{v}}"},
		strings.NewReader("")); len(faults) > 0 {
		t.Errorf("on one machine: %v", faults)
	}
}
