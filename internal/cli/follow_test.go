package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
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
	t.Setenv("DYNO_HOME", t.TempDir())
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
			var out, errs bytes.Buffer
			args = append(strings.Fields("run -n 1 -c 1 -q --no-save --follow 50 -H Accept:x "+with.dyno), url)
			if status := Main(args, strings.NewReader(""), &out, &errs); status != exitOK {
				t.Errorf("%q: exit code %d, %s", args, status, errs.String())
			}
			if got := e.take(); len(want) != 4 || !slices.Equal(got, want) {
				t.Errorf("%q\ncurl sent\n%s\ndyno sent\n%s", args, strings.Join(want, "\n---\n"), strings.Join(got, "\n---\n"))
			}
		}
	}
}

// A request whose redirects have no end fails by name, and what excludes --follow says so.
func TestFollowAsAUserTypesIt(t *testing.T) {
	t.Setenv("DYNO_HOME", t.TempDir())
	var e echo
	base := "http://" + startEcho(t, &e, "tcp").String()
	for _, test := range []struct {
		args  string
		code  int
		seen  int
		tells string // in what is printed
	}{
		{"/302/3", 0, 4, "every response was a redirect (302), and none was followed: load the URL they lead to, " +
			"or give --follow 10"},
		{"--follow 3 /302/3", 0, 16, "4 sent: 4 completed, 0 errors, 0 unfinished; 12 redirects followed"},
		{"--follow 3 --json - --quiet /302/3", 0, 16, `"redirects": 12`},
		{"--follow 3 --expect 200 /302/3", 0, 16, "4 completed, 0 errors"},
		{"--follow 3 --expect 404 /302/3", 0, 16, "status 200: 4 times"},
		{"--follow 2 --slo errors<1% /302/3", 1, 12, "check redirects within 2: too many redirects: 2: 4 times"},
		{"--follow 2 --expect 200 --slo errors<1% /302/3", 1, 12, "check redirects within 2: too many redirects: 2: 4 times"},
		{"--follow 101 /", 2, 0, "--follow: 101 is not within 0 to 100"},
		{"--follow many /", 2, 0, "--follow: \"many\" is not"},
		{"--follow 1 --pipeline 2 /", 2, 0, "--pipeline: what follows a redirect has the rest of its request's timeout"},
		{"--follow 1 --script x.lua /", 2, 0, "--script and --follow: the script sees each redirect"},
		{"--follow 1 --probe 10 /", 2, 0, "--probe: sends the same request again and again"},
	} {
		var out, errs bytes.Buffer
		args := strings.Fields(test.args)
		args[len(args)-1] = base + args[len(args)-1]
		args = append([]string{"run", "-n", "4", "-c", "2", "--no-save", "-v"}, args...)
		if slices.Contains(args, "--quiet") {
			args = slices.DeleteFunc(args, func(s string) bool { return s == "-v" })
		}
		code := Main(args, strings.NewReader(""), &out, &errs)
		text := strings.ToLower(strings.Join(strings.Fields(out.String()+errs.String()), " "))
		if seen := len(e.take()); code != test.code || seen != test.seen || !strings.Contains(text, strings.ToLower(test.tells)) {
			t.Errorf("%s: exit code %d, the server saw %d\n%s%s", test.args, code, seen, out.String(), errs.String())
		}
	}
}
