package versus

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	labdesign "dyno/internal/lab/design"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
)

// read is the experiment that a comparison makes.
func read(t *testing.T, c Comparison) *experiment.Experiment {
	t.Helper()
	text, err := c.File()
	if err != nil {
		t.Fatal(err)
	}
	e, err := experiment.Read("vs.yaml", strings.NewReader(string(text)))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return e
}

// level is a load of connections, at a rate or, with 0, without one.
func level(connections experiment.Count, rate experiment.Rate) experiment.Level {
	l := experiment.Default[experiment.Level]()
	l.Connections, l.Rate = connections, rate
	return l
}

func TestFile(t *testing.T) {
	c := Comparison{Servers: []string{"./srv -p {port}", "MODE='a b' ./srv -p {port} --tmp {dir}/x", "http://127.0.0.1:8081/x?y=1"},
		Dir: "/home/{port}/{{x", Level: level(7, 500), Allow: []string{"ETag", "server"}, Margin: 0.03, Regression: 0.05,
		Workload: experiment.Workload{Expect: experiment.Expect{Status: experiment.Statuses{{From: 200, To: 299}, {From: 404, To: 404}}}}}
	c.Level.Arrival = "poisson"
	e := read(t, c)
	if e.Design.Baseline != "srv-p" && e.Design.Baseline != e.Variants[0].Name {
		t.Errorf("the baseline is %s", e.Design.Baseline)
	}
	second := e.Variants[1].Value
	if got := second.Processes[0]; !slices.Equal(got.Cmd, experiment.Command{"./srv", "-p", "{{port}}", "--tmp", "{{dir}}/x"}) ||
		got.Env[0].Name != "MODE" || got.Env[0].Value != "a b" || got.Dir != `/home/{port}/\{{x` {
		t.Errorf("%+v", got)
	}
	if second.URL != "http://127.0.0.1:{{port}}/" || second.Description != c.Servers[1] {
		t.Errorf("%+v", second)
	}
	if third := e.Variants[2].Value; third.URL != "http://127.0.0.1:8081/x?y=1" || len(third.Processes) > 0 {
		t.Errorf("%+v", third)
	}
	if l := e.Levels[0]; l.Connections != 7 || l.Rate != 500 || l.Arrival != "poisson" {
		t.Errorf("%+v", l)
	}
	if !slices.Equal(e.Fairness.Allow, []string{"server", "date", "etag"}) || e.Fairness.Mode != experiment.Strict {
		t.Errorf("%+v", e.Fairness)
	}
	if !slices.Equal(e.Design.Metrics, []experiment.Metric{"p50", "p99"}) || e.Gate == nil || e.Gate.Margin != 0.05 ||
		!slices.Equal(e.Gate.Metrics, []experiment.Metric{"p50", "p99"}) || e.Design.Margin != 0.03 {
		t.Errorf("%+v, %+v", e.Design, e.Gate)
	}
	c.Servers, c.Allow, c.Level.Rate, c.Level.Arrival = c.Servers[:2], []string{"all"}, 0, ""
	if e = read(t, c); e.Fairness.Mode != experiment.Warn || e.Design.Metrics[0] != "cpu" || e.Levels[0].IsOpen() ||
		!slices.Equal(e.Gate.Metrics, []experiment.Metric{"cpu", "p99"}) {
		t.Errorf("%+v, %+v", e.Fairness, e.Design)
	}
}

func TestFaults(t *testing.T) {
	for _, test := range []struct {
		c    Comparison
		want string
	}{
		{Comparison{}, "two servers are wanted, or more; 0 given"},
		{Comparison{Servers: []string{"./a", "./b {port}"}}, `"./a" has no {port}: `},
		{Comparison{Servers: []string{"./a", "./b"}, Address: "http://127.0.0.1:{port}"}, `"./b" has no {port}: `},
		{Comparison{Servers: []string{"./a '{port}", "./b {port}"}}, "is not a command: "},
		{Comparison{Servers: []string{"./a {port}", " "}}, "is not a command; a program is wanted"},
		{Comparison{Servers: []string{"./a {port}", "./b {port}"}, Names: []string{"a b", "c"}}, `"a b" is not a name`},
		{Comparison{Servers: []string{"./a {port}", "./b {port}"}, Names: []string{"a", "A"}}, `"a" and "A" differ in capitals alone`},
		{Comparison{Git: &Git{Run: "x {port}"}}, "--build: revisions need it"},
		{Comparison{Git: &Git{Run: "x", Build: "y"}}, `--run: "x" has no {port}`},
	} {
		if _, err := test.c.File(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %s", test.c, err, test.want)
		}
	}
	read(t, Comparison{Servers: []string{"./a", "./b"}, Address: "http://127.0.0.1:8080/"})
}

func TestCommand(t *testing.T) {
	shell := func(s string) []string { return []string{"sh", "-c", s} }
	for command, want := range map[string]struct{ words, env []string }{
		`./srv -listen 127.0.0.1:{port}`:    {words: []string{"./srv", "-listen", "127.0.0.1:{port}"}},
		`{out}/srv "a b" 'c $d' e\ f ""`:    {words: []string{"{out}/srv", "a b", "c $d", "e f", ""}},
		"PORT={port} A= node 'x.js'":        {[]string{"node", "x.js"}, []string{"PORT", "{port}", "A", ""}},
		`srv --json '{"a": 1}' {{port}}`:    {words: []string{"srv", "--json", `{"a": 1}`, "{{port}}"}},
		`srv --quoted "*" '~'`:              {words: []string{"srv", "--quoted", "*", "~"}},
		"a | b":                             {words: shell("a | b")},
		"cd x && ./srv":                     {words: shell("cd x && ./srv")},
		"srv $HOME":                         {words: shell("srv $HOME")},
		`srv "$PORT"`:                       {words: shell(`srv "$PORT"`)},
		"srv *.conf":                        {words: shell("srv *.conf")},
		"srv ~/x":                           {words: shell("srv ~/x")},
		"srv > log":                         {words: shell("srv > log")},
		"srv $(cat port)":                   {words: shell("srv $(cat port)")},
		"ulimit -n 100; srv":                {words: shell("ulimit -n 100; srv")},
		"exec srv":                          {words: shell("exec srv")},
		"A=$B srv":                          {words: shell("A=$B srv")},
		"srv &":                             {words: shell("srv &")},
		"nginx -c /x.conf -g 'daemon off;'": {words: []string{"nginx", "-c", "/x.conf", "-g", "daemon off;"}},
	} {
		got, err := splitCommand(command)
		if err != nil || !slices.Equal(got.words, want.words) || !slices.Equal(got.env, want.env) {
			t.Errorf("%s: %q %q, %v", command, got.words, got.env, err)
		}
	}
}

func TestNames(t *testing.T) {
	for _, test := range []struct{ servers, want []string }{
		{[]string{"./old -p {port}", "/usr/bin/new -p {port}"}, []string{"old", "new"}},
		{[]string{"./srv -p {port}", "./srv -gc 200 -p {port}"}, []string{"srv", "gc-200"}},
		{[]string{"./a/srv {port}", "./b/srv {port}", "./c/srv {port}"}, []string{"a-srv", "b-srv", "c-srv"}},
		{[]string{"node a.js {port}", "node b.js {port}"}, []string{"a.js", "b.js"}},
		{[]string{"GOGC=50 ./srv {port}", "GOGC=200 ./srv {port}"}, []string{"GOGC-50", "GOGC-200"}},
		{[]string{"./srv {port}", "./srv {port}"}, []string{"srv", "srv-2"}},
		{[]string{"./Srv {port}", "./srv {port}"}, []string{"Srv", "srv-2"}},
		{[]string{"http://127.0.0.1:8080/", "http://127.0.0.1:8081/"}, []string{"127.0.0.1-8080", "127.0.0.1-8081"}},
		{[]string{"http://a/v1", "http://a/v2"}, []string{"v1", "v2"}},
		{[]string{"cd x && ./srv {port}", "cd y && ./srv {port}"}, []string{"x", "y"}},
		{[]string{"./日本 {port}", "./ü {port}"}, []string{"server", "server-2"}},
		{[]string{"./" + strings.Repeat("x", 99) + " {port}", "./b {port}"}, []string{strings.Repeat("x", 32), "b"}},
	} {
		if got := deriveNames(test.servers); !slices.Equal(got, test.want) {
			t.Errorf("%q are called %q, want %q", test.servers, got, test.want)
		}
		read(t, Comparison{Servers: test.servers, Dir: "/"})
	}
}

// Two comparisons of the same servers have different titles. A query, which may be secret, is in none.
func TestDescription(t *testing.T) {
	commands, urls := []string{"./a {port}", "./b {port}"}, []string{"http://127.0.0.1:1/x", "http://127.0.0.1:2/"}
	for want, c := range map[string]Comparison{
		"GET /, 50 connections":           {Servers: commands, Level: level(50, 0)},
		"GET, 50 connections":             {Servers: urls, Level: level(50, 0)},
		"GET /x, 50 connections":          {Servers: []string{"http://a/x?key=1", "http://b/x"}, Level: level(50, 0), Workload: experiment.Workload{Request: experiment.Request{}}},
		"GET /y, 50 connections":          {Servers: []string{"http://a/y", "http://b/y"}, Level: level(50, 0)},
		"PUT, 50 connections":             {Servers: urls, Level: level(50, 0), Workload: experiment.Workload{Request: experiment.Request{Method: "PUT"}}},
		"GET /z, 50 connections":          {Servers: []string{"http://a", "http://b/"}, Level: level(50, 0), Workload: experiment.Workload{Request: experiment.Request{Path: "/z"}}},
		"GET /v, 50 connections":          {Servers: commands, Address: "http://127.0.0.1:{port}/v", Level: level(50, 0)},
		"HEAD /, 50 connections":          {Servers: []string{"http://a", "./b {port}"}, Level: level(50, 0), Workload: experiment.Workload{Request: experiment.Request{Method: "HEAD"}}},
		"POST /buy, 500/s, 7 connections": {Servers: commands, Level: level(7, 500), Workload: experiment.Workload{Request: experiment.Request{Method: "POST", Path: "/buy?token=x"}}},
		"login.hurl, 50 users":            {Servers: commands, Level: level(50, 0), Workload: experiment.Workload{Hurl: "/home/a/login.hurl"}},
		"mix.jsonl, 9 users":              {Servers: commands, Level: level(50, 0), Workload: experiment.Workload{RequestsFile: "/home/mix.jsonl", Users: 9}},
	} {
		c.Dir = "/"
		if got := read(t, c).Description; got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// Everything fits into the time, unless six rounds do not; and six rounds there are.
func TestTimes(t *testing.T) {
	for servers := 2; servers <= 12; servers++ {
		for _, l := range []Limits{{}, {Total: 45 * time.Second}, {Total: 40 * time.Second}, {Total: 10 * time.Minute}, {Precision: 0.01},
			{Window: 3 * time.Second, Warmup: 2 * time.Second}, {Warmup: -1}, {Rounds: 7}} {
			c := Comparison{Limits: l, Dir: "/"}
			for i := range servers {
				c.Servers = append(c.Servers, strings.Repeat("x", i+1)+" {port}")
			}
			e := read(t, c)
			d := e.Design
			round := time.Duration(servers+1) * (startTime + time.Duration(d.Warmup.Max+d.Measure+d.Cooldown) +
				min(500*time.Millisecond, time.Duration(d.Measure)/4))
			total := l.Total
			if total == 0 {
				total = DefaultTotal
			}
			if l.Precision > 0 {
				total = PrecisionTotal
			}
			spent := time.Duration(d.Budget) + round + time.Duration(servers)*checkTime + otherTime
			forced := d.Rounds == experiment.LeastRounds // which may take longer
			if spent > total+2*time.Second && !forced && l.Rounds == 0 || d.Rounds < experiment.LeastRounds ||
				(d.Budget == 0) != (l.Rounds > 0) {
				t.Errorf("%d servers, %+v: %d rounds of %v, %v in all: %+v", servers, l, d.Rounds, round, spent, d)
			}
			if servers == 2 && l == (Limits{}) && (d.Rounds < 9 || d.Measure < experiment.Duration(time.Second)) {
				t.Errorf("two servers have %d rounds of %v", d.Rounds, d.Measure)
			}
			if l.Precision > 0 && (d.Precision != l.Precision || d.MaxRounds != 1000) {
				t.Errorf("%+v", d)
			}
			trial := result.Result{Window: result.Window{MeasuredS: time.Duration(d.Measure).Seconds()}}
			if trial.Requests.Completed = 1000; trial.TooShort() {
				t.Errorf("%d servers, %+v: nobody can judge the generator in %v", servers, l, d.Measure)
			}
			for _, w := range labdesign.Warnings(e, experiment.Expand(e)) {
				t.Errorf("%d servers, %+v: %s: %+v", servers, l, w.About, w.Args)
			}
		}
	}
}

// A limit of time that is too short for six rounds is known before anything begins, with what they take.
func TestOverrun(t *testing.T) {
	for total, want := range map[time.Duration]time.Duration{0: 0, 40 * time.Second: 51 * time.Second, 51 * time.Second: 0} {
		c := Comparison{Limits: Limits{Total: total}}
		if got := c.Overrun(2); got != want {
			t.Errorf("%v: %v, not %v", total, got, want)
		}
	}
	running := Comparison{Limits: Limits{Total: 40 * time.Second}, Servers: []string{"http://a/", "http://b/"}}
	if got := running.Overrun(2); got != 43*time.Second {
		t.Errorf("servers that need no start: %v", got)
	}
	c := Comparison{Limits: Limits{Total: DefaultTotal}}
	if n := MostServers(); n != 4 || c.Overrun(n) > 0 || c.Overrun(n+1) == 0 { // docs/vs.md has the number
		t.Errorf("%v suffices for %d servers", DefaultTotal, n)
	}
}

func TestRevisions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "re{out}po")
	below := filepath.Join(dir, "cmd", "srv")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenGit(t.Context(), dir, []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), "is in no git repository") {
		t.Error(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", dir}, {"commit", "-q", "--allow-empty", "-m", "x"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	_, err := OpenGit(t.Context(), dir, []string{"main", "nope", "--help"})
	if err == nil || !strings.Contains(err.Error(), `"nope" is not a revision`) || !strings.Contains(err.Error(), `"--help" is not a revision`) {
		t.Error(err)
	}
	g, err := OpenGit(t.Context(), below, []string{"main", "HEAD"})
	if err != nil {
		t.Fatal(err)
	}
	g.Build, g.Run = "CGO_ENABLED=0 go build -o {out}/srv .", "{out}/srv -p {port}"
	e := read(t, Comparison{Git: g})
	v := e.Variants[1].Value
	if e.Variants[1].Name != "HEAD" || len(v.Build) != 3 || v.Processes[0].Dir != "{{build}}/source/cmd/srv" ||
		v.Build[2].Dir != v.Processes[0].Dir || v.Build[2].Env[0].Name != "CGO_ENABLED" ||
		!slices.Equal(v.Build[2].Cmd, experiment.Command{"go", "build", "-o", "{{build}}/srv", "."}) ||
		!slices.Contains(v.Build[0].Cmd, experiment.Template(g.Repository)) {
		t.Errorf("%+v", v)
	}
}

// What --ready names is waited for until the time of all is over, and never for longer than two minutes.
func TestReadyWithinTheTime(t *testing.T) {
	for total, want := range map[time.Duration]time.Duration{0: 2 * time.Minute, time.Minute: time.Minute, time.Hour: 2 * time.Minute} {
		e := read(t, Comparison{Servers: []string{"a {port}", "b {port}"}, Dir: "/", Ready: "log:never", Limits: Limits{Total: total}})
		for _, v := range experiment.Expand(e) {
			if ready := v.Processes[0].Ready; ready == nil || ready.Log != "never" || time.Duration(ready.Timeout) != want {
				t.Errorf("of %v: %+v, want %v", total, ready, want)
			}
		}
	}
}
