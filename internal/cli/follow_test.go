package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"dyno/internal/result"
)

// redirectOf is the status and the Location with which an echo answers: /CODE/N leads to /CODE/N-1,
// and /CODE/0 nowhere.
func redirectOf(r *http.Request) (status int, location string) {
	code, n, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	status, err := strconv.Atoi(code)
	if left, err2 := strconv.Atoi(n); err == nil && err2 == nil && left > 0 {
		return status, fmt.Sprintf("../%d/%d?from=%[2]d", status, left-1)
	}
	return 200, ""
}

// What dyno sends behind redirects is what curl -L sends: methods, bodies, headers, and how often.
func TestFollowBesideCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed; Debian's package is curl (see e2e/install.sh)")
	}
	t.Parallel()
	dir := t.TempDir()
	var e echo
	base := "http://" + startEcho(t, &e, "tcp").String()
	for _, with := range []struct{ curl, dyno string }{
		{"", ""},
		{"-d a=b", "-b a=b -H Content-Type:application/x-www-form-urlencoded"},
		{"-d a=b -H Authorization:x -H Cookie:y", "-b a=b -H Content-Type:application/x-www-form-urlencoded " +
			"-H Authorization:x -H Cookie:y"},
		{"--head", "-X HEAD"},
		{"-u me:pass", "-u me:pass"},
		{"-H Host:shop.test", "-H Host:shop.test"},
	} {
		for _, code := range []int{301, 302, 303, 307, 308} {
			url := fmt.Sprintf("%s/%d/3", base, code)
			args := append(strings.Fields("--silent -L -H Accept:x "+with.curl), url)
			if out, err := exec.Command("curl", args...).CombinedOutput(); err != nil {
				t.Fatalf("curl %q: %v\n%s", args, err, out)
			}
			want := e.take()
			args = append(strings.Fields("run -n 1 -c 1 -q --no-save --follow 50 -H Accept:x "+with.dyno), url)
			if status, _, errs := runDyno(t, dir, args...); status != exitOK {
				t.Errorf("%q: exit code %d, %s", args, status, errs)
			}
			if got := e.take(); len(want) != 4 || !slices.Equal(got, want) {
				t.Errorf("%q\ncurl sent\n%s\ndyno sent\n%s", args, strings.Join(want, "\n---\n"), strings.Join(got, "\n---\n"))
			}
		}
	}
}

// A request whose redirects have no end fails by name, and what excludes --follow says so.
func TestFollowAsAUserTypesIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var e echo
	base := "http://" + startEcho(t, &e, "tcp").String()
	for _, test := range []struct {
		args  string
		code  int
		seen  int
		tells string // in what is printed
	}{
		{"/302/3", 0, 4, "every response was a redirect (302), and none was followed; load the URL they lead to, " +
			"or give --follow 10"},
		{"--follow 3 /302/3", 0, 16, "4 sent: 4 completed, 0 errors, 0 unfinished; 12 redirects followed"},
		{"--follow 3 --json - --quiet /302/3", 0, 16, `"redirects": 12`},
		{"--follow 3 --expect 200 /302/3", 0, 16, "4 completed, 0 errors"},
		{"--follow 3 --expect 404 /302/3", 0, 16, "verdict every answer was an error (status 200)"},
		{"--follow 2 --slo errors<1% /302/3", 1, 12, " too many redirects: 2"},
		{"--follow 2 --expect 200 --slo errors<1% /302/3", 1, 12, " too many redirects: 2"},
		{"--follow 101 /", 2, 0, "--follow: 101 is not within 0 to 100"},
		{"--follow many /", 2, 0, "--follow: \"many\" is not"},
		{"--follow 1 --pipeline 2 /", 2, 0, "--pipeline: what follows a redirect has the rest of its request's timeout"},
		{"--follow 1 --script x.lua /", 2, 0, "--script and --follow: the script sees each redirect"},
		{"--follow 1 --follow-to https://a/b /", 2, 0, "--follow-to: \"https://a/b\" is more than an origin"},
		{"--follow 1 --follow-to https://me:x@a /", 2, 0, "--follow-to: \"https://me:x@a\" is more than an origin"},
		{"--follow 1 --follow-to fcgi://127.0.0.1:1 /", 2, 0, "--follow-to: fcgi://127.0.0.1:1 is no origin that a redirect leads to"},
		{"--follow 1 --follow-to https://a.invalid /", 2, 0, "--follow-to: https://a.invalid: lookup a.invalid"},
		{"--follow-to https://127.0.0.1 /", 2, 0, "--follow-to: says where redirects may lead, and none is followed; give --follow 10"},
		{"--follow 1 --follow-to https://127.0.0.1 --sni a /", 2, 0, "--cert, --sni: are for the server alone"},
		{"--follow 1 --follow-to https://127.0.0.1 --alpn h3 /", 2, 0, "--alpn: \"h3\" is not what these connections can speak"},
		{"--follow 1 --follow-to https://127.0.0.1 --fleet all /", 2, 0, "--follow-to and --fleet: an agent loads the server alone"},
		{"--follow 1 --probe 10 /", 2, 0, "--probe: sends the same request again and again"},
	} {
		args := strings.Fields(test.args)
		args[len(args)-1] = base + args[len(args)-1]
		args = append([]string{"run", "-n", "4", "-c", "2", "--no-save", "-v"}, args...)
		if slices.Contains(args, "--quiet") {
			args = slices.DeleteFunc(args, func(s string) bool { return s == "-v" })
		}
		code, out, errs := runDyno(t, dir, args...)
		text := strings.ToLower(strings.Join(strings.Fields(out+errs), " "))
		if seen := len(e.take()); code != test.code || seen != test.seen || !strings.Contains(text, strings.ToLower(test.tells)) {
			t.Errorf("%s: exit code %d, the server saw %d\n%s%s", test.args, code, seen, out, errs)
		}
	}
}

// A traveller is two servers that redirect from one to the other: of /a/b/c the first asks the
// second for /b/c, which asks the first for /c.
type traveller struct {
	first, second *httptest.Server
	mu            sync.Mutex
	heard         []string
	origin        string // see elsewhere
}

func startTraveller(t *testing.T) *traveller {
	x := &traveller{}
	serve := func(name string, other func() string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			host, _, _ := strings.Cut(r.Host, ":")
			x.mu.Lock()
			x.heard = append(x.heard, fmt.Sprintf("%s: %s %s, host %s, %q, authorization %q, cookie %q, x-a %q", name, r.Method,
				r.URL.Path, host, body, r.Header.Get("Authorization"), r.Header.Get("Cookie"), r.Header.Get("X-A")))
			x.mu.Unlock()
			if _, rest, more := strings.Cut(r.URL.Path[1:], "/"); more {
				http.Redirect(w, r, other()+"/"+rest, http.StatusTemporaryRedirect)
			}
		})
	}
	x.first = httptest.NewServer(serve("first", x.elsewhere))
	x.second = httptest.NewUnstartedServer(serve("second", func() string { return x.first.URL }))
	x.second.EnableHTTP2 = true
	x.second.StartTLS()
	x.mu.Lock()
	x.origin = strings.Replace(x.second.URL, "127.0.0.1", "localhost", 1)
	x.mu.Unlock()
	t.Cleanup(x.first.Close)
	t.Cleanup(x.second.Close)
	return x
}

// elsewhere is the second server's origin. Its host has another name: to another port of the same
// host curl sends a Host of -H, too.
func (x *traveller) elsewhere() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.origin
}

func (x *traveller) take() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := x.heard
	x.heard = nil
	return all
}

// To an origin that is named dyno sends what curl -L sends there. To one that is not, nothing.
func TestFollowToBesideCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed; Debian's package is curl (see e2e/install.sh)")
	}
	t.Parallel()
	dir := t.TempDir()
	x := startTraveller(t)
	for _, with := range []struct{ curl, dyno string }{
		{"", ""},
		{"-d a=b -H Authorization:x -H Cookie:y", "-b a=b -H Content-Type:application/x-www-form-urlencoded " +
			"-H Authorization:x -H Cookie:y"},
		{"-u me:pass -H X-A:1", "-u me:pass -H X-A:1"},
		{"-H Host:shop.test", "-H Host:shop.test"},
	} {
		for _, path := range []string{"/a/b", "/a/b/c"} {
			url := x.first.URL + path
			args := append(strings.Fields("--silent -k -L "+with.curl), url)
			if out, err := exec.Command("curl", args...).CombinedOutput(); err != nil {
				t.Fatalf("curl %q: %v\n%s", args, err, out)
			}
			want := x.take()
			if n := len(want); n == 3 { // back at the first server, curl sends its secrets again
				want = want[:2]
			}
			run := "run -n 1 -c 1 -q --no-save --insecure --follow 50 --follow-to " + x.elsewhere() + " "
			args = append(strings.Fields(run+with.dyno), url)
			if status, _, errs := runDyno(t, dir, args...); status != exitOK {
				t.Errorf("%q: exit code %d, %s", args, status, errs)
			}
			got := x.take()
			if len(want) != 2 || len(got) != strings.Count(path, "/") || !slices.Equal(got[:2], want) {
				t.Errorf("%q\ncurl sent\n%s\ndyno sent\n%s", args, strings.Join(want, "\n"), strings.Join(got, "\n"))
			}
			if last := got[len(got)-1]; !strings.Contains(last, `authorization "", cookie ""`) {
				t.Errorf("%q: the last request was %s", args, last)
			}
		}
	}
	args := []string{"run", "-n", "3", "-c", "1", "--no-save", "--follow", "5", x.first.URL + "/a/b"}
	code, out, errs := runDyno(t, dir, args...)
	const advice = "next Give --follow-to ORIGIN WARNING 3 requests were redirected to another origin, and dyno did not follow rate"
	if seen := x.take(); code != exitOK || len(seen) != 3 || !strings.Contains(strings.Join(strings.Fields(out), " "), advice) {
		t.Errorf("exit code %d, %q\n%s%s", code, seen, out, errs)
	}
}

// Each answer on the way is shown, and JSON has what was followed where.
func TestFollowToIsShown(t *testing.T) {
	t.Setenv("DYNO_HOME", t.TempDir())
	x := startTraveller(t)
	var out, errs bytes.Buffer
	args := []string{"run", "-n", "1", "-c", "1", "-v", "--no-save", "--json", "-", "--insecure", "--follow", "5", "--follow-to",
		x.elsewhere(), x.first.URL + "/a/b/c"}
	code := Main(args, strings.NewReader(""), &out, &errs)
	for _, want := range []string{"> GET /a/b/c HTTP/1.1\n", "< HTTP/1.1 307\n", "> GET /b/c HTTP/2\n", "< HTTP/2 307\n", "> GET /c HTTP/1.1\n",
		"< HTTP/1.1 200\n"} {
		if strings.Count(errs.String(), want) != 1 {
			t.Errorf("exit code %d, not once: %s\n%s", code, want, errs.String())
		}
	}
	var r result.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Requests.Redirects != 2 || len(r.Requests.RedirectsTo) != 1 ||
		r.Requests.RedirectsTo[0].Origin != x.elsewhere() || r.Requests.RedirectsTo[0].Redirects != 1 ||
		r.Requests.RedirectsTo[0].Connections != 1 || r.Connections.Opened != 1 {
		t.Errorf("%v: %+v, %+v", err, r.Requests, r.Connections)
	}
}
