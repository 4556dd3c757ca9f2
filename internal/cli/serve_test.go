package cli

import (
	"bufio"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/redact"
	dashboard "dyno/internal/view/serve"
)

// tryServe starts a dashboard, opens what it prints, and ends it.
func tryServe(t *testing.T, dir, line string) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM to end a server with")
	}
	c := shell(t, dir, line+" --listen 127.0.0.1:0 --no-open")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	url, _, _ := strings.Cut(lines.Text(), "/?")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := http.Client{Jar: jar}
	for i, address := range []string{url + "/api/labs", lines.Text(), url + "/api/labs"} {
		answer, err := browser.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		want := []int{http.StatusUnauthorized, answer.StatusCode, http.StatusOK}[i]
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", address, answer.StatusCode, want)
		}
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// No field of the form lets a browser at files, at URLs that are fetched, or at what is stored.
func TestFormFields(t *testing.T) {
	for _, g := range formFields() {
		for _, f := range g.Fields {
			if strings.Contains(f.Value, "FILE") && f.Name != "body" || f.Name == "pprof" {
				t.Errorf("%s takes %s", f.Name, f.Value)
			}
		}
	}
}

// Hints agree with the flags: each choice can be given, and what an empty field is said to mean is
// what it means.
func TestFormHints(t *testing.T) {
	const url = "http://127.0.0.1:1/"
	plain, faults := formReader("dyno")(dashboard.Form{"url": {url}, "rate": {"1k"}})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	hints := map[string]dashboard.Hint{}
	for _, g := range formFields() {
		for _, f := range g.Fields {
			hints[f.Name] = f.Hint
		}
	}
	for name, hint := range hints {
		for _, choice := range hint.Choices {
			form := dashboard.Form{"url": {url}, "rate": {"1k"}, name: {choice}}
			if name == "http" { // 2 and 3 want TLS, or all of the connections for them
				form["url"] = []string{"https://127.0.0.1:1/"}
			}
			if _, faults := formReader("dyno")(form); len(faults) > 0 {
				t.Errorf("%s %s: %v", name, choice, faults)
			}
		}
		// Some defaults are words, and a plan without a law of arrivals has constant ones.
		words := name == "arrival" || name == "threads" || name == "cpus" || name == "expect"
		if hint.Default == "" || words {
			continue
		}
		given, faults := formReader("dyno")(dashboard.Form{"url": {url}, "rate": {"1k"},
			name: {hint.Default}})
		if len(faults) > 0 || !reflect.DeepEqual(given.Plan, plain.Plan) {
			t.Errorf("%s %s is not the default: %v", name, hint.Default, faults)
		}
	}
}

// What fields do is said without flags: they are fields in a browser.
func TestFormHelpHasNoFlags(t *testing.T) {
	flag := regexp.MustCompile(`(^|[ (])--?[a-zA-Z]`)
	for _, g := range formFields() {
		for _, f := range g.Fields {
			if flag.MatchString(f.Does) || strings.Contains(f.Does, "may be repeated") {
				t.Errorf("%s: %s", f.Name, f.Does)
			}
		}
	}
}

// A form is what the same command line is.
func TestFormIsACommandLine(t *testing.T) {
	form := dashboard.Form{"url": {"http://127.0.0.1:1/x"}, "connections": {"7"}, "rate": {"2k"},
		"arrival": {"constant"}, "duration": {"30"}, "header": {"A: b", "C: -d"}, "body": {"-x={{uuid}}{{v}}"},
		"insecure": {"true"}, "slo": {"p99<20ms", "errors<1%"}, "method": {"PUT"}, "users": {"9"},
		"variable": {"v=1"}, "expect-body": {"contains:{"}, "expect-header": {"A"}}
	form["insecure"] = nil
	job, faults := formReader("dyno")(form)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	f, faults := readRun([]string{"-c", "7", "-R", "2k", "--arrival", "constant", "-d", "30s", "-H", "A: b",
		"-H", "C: -d", "-b", "-x={{uuid}}{{v}}", "-X", "PUT", "--users", "9", "--variable", "v=1", "--expect-body",
		"contains:{", "--expect-header", "A", "http://127.0.0.1:1/x"}, strings.NewReader(""))
	if len(faults) > 0 || !reflect.DeepEqual(job.Plan, f.plan) {
		t.Errorf("%v\n%+v\nwant\n%+v", faults, job.Plan, f.plan)
	}
}

// What a fault says of other fields is in the words of the form.
func TestFormFaultsNameLabels(t *testing.T) {
	_, faults := formReader("dyno")(dashboard.Form{"url": {"http://127.0.0.1:1/"}, "connections": {"9"}, "requests": {"5"}})
	const want = "--requests: 5 requests cannot use 9 connections; lower “Connections” or raise “requests”"
	if len(faults) != 1 || faults[0].Error() != want {
		t.Errorf("%q, want %q", faults, want)
	}
}

// Faults name the field that they are of, all at once.
func TestFormFaults(t *testing.T) {
	const url = "http://127.0.0.1:1/"
	for _, c := range []struct {
		form dashboard.Form
		want []string // settings
	}{
		{dashboard.Form{}, []string{"URL"}},
		{dashboard.Form{"url": {"localhost"}}, []string{"URL"}},
		{dashboard.Form{"url": {url, url}}, []string{"URL"}},
		{dashboard.Form{"url": {"--json=x"}}, []string{"URL"}},
		{dashboard.Form{"url": {"s.hurl"}, "variable": {"base=" + url}}, []string{"URL"}},
		{dashboard.Form{"url": {url}, "body": {"x", "@/etc/passwd"}}, []string{"--body"}},
		{dashboard.Form{"url": {url}, "rate": {"x"}, "connections": {"0"}}, []string{"--rate", "--connections"}},
		{dashboard.Form{"url": {url}, "duration": {"1s", "2s"}}, []string{"--duration"}},
		{dashboard.Form{"url": {url}, "body": {"@/etc/passwd"}}, []string{"--body"}},
		{dashboard.Form{"url": {url}, "header": {"A: b", "@/etc/passwd"}}, []string{"--header"}},
		{dashboard.Form{"url": {url + "{{nope}}"}, "header": {"A: {{int}}"}, "body": {`{{env "HOME"}}`},
			"expect-body": {"x"}, "data": {"/etc/passwd"}, "requests": {"5"}, "users": {"0"}},
			[]string{"--body", "--data", "--expect-body", "--header", "--users", "URL"}},
		{dashboard.Form{"url": {url}, "watch": {"1", "nginx@db1"}}, []string{"--watch"}},
		{dashboard.Form{"url": {url}, "body": {"@-"}}, []string{"--body"}},
		{dashboard.Form{"url": {url}, "urls": {"-"}, "bodies": {"f"}, "requests-file": {"f"}, "json": {"f"},
			"cacert": {"f"}, "cert": {"f"}, "key": {"f"}, "pprof": {url}, "stages": {"f"}, "tui": {"true"},
			"serve": {"true"}, "help": {"true"}, "no-save": {"true"}, "frob": {"x"}},
			[]string{"--bodies", "--cacert", "--cert", "--frob", "--help", "--json", "--key", "--no-save",
				"--pprof", "--requests-file", "--serve", "--stages", "--tui", "--urls"}},
		{dashboard.Form{"url": {url}, "c": {"7"}, "rate=1k --json": {"x"}}, []string{"--c", "--rate=1k --json"}},
	} {
		_, faults := formReader("dyno")(c.form)
		var got []string
		for _, err := range faults {
			flaw, is := errors.AsType[loadplan.Flaw](err)
			if !is {
				t.Errorf("%v: %v names no field", c.form, err)
			}
			got = append(got, flaw.Setting)
		}
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(c.want))) {
			t.Errorf("%v: %v, want %v", c.form, got, c.want)
		}
	}
}

// Whoever may load from the form cannot have a guess marked as what somebody else loaded with; two
// loads of forms can be compared.
func TestFormsHaveMarksOfTheirOwn(t *testing.T) {
	t.Setenv("DYNO_HOME", t.TempDir())
	const url = "http://127.0.0.1:1/?api_key=guess"
	form := func() string {
		job, faults := formReader("dyno")(dashboard.Form{"url": {url}})
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		return redact.FirstMark(job.Plan.Target.URL)
	}
	line := func() string {
		f, faults := readRun([]string{url}, strings.NewReader(""))
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		return redact.FirstMark(f.plan.Target.URL)
	}
	asForm, asLine := form(), line()
	if asForm == asLine || asForm == "" || asLine == "" || form() != asForm || line() != asLine {
		t.Errorf("a form marks as %s, and a command line as %s", asForm, asLine)
	}
}
