package labanswer

import (
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
)

// The answer says what was loaded: files with their sizes, open or closed, the rate, and the users
// where there are some.
func TestLoad(t *testing.T) {
	closed := experiment.Level{Connections: 50}
	for name, c := range map[string]struct {
		work   experiment.Workload
		size   *lab.Scenario
		levels []experiment.Level
		want   string
	}{
		"static": {levels: []experiment.Level{closed}, want: "load: closed, 50 connections"},
		"a session": {experiment.Workload{Hurl: "/home/me/shop.hurl", Data: "users.csv"}, &lab.Scenario{Steps: 3, Rows: 4},
			[]experiment.Level{closed}, "load: shop.hurl (3 requests), users.csv (4 rows); closed, 50 users"},
		"of an older dyno": {experiment.Workload{Hurl: "shop.hurl"}, nil, []experiment.Level{closed}, "load: shop.hurl; closed, 50 users"},
		"open": {experiment.Workload{Hurl: "shop.hurl"}, &lab.Scenario{Steps: 1}, []experiment.Level{{Connections: 10, Rate: 2000, Arrival: "poisson"}},
			"load: shop.hurl (1 request); open, 2,000 iterations/s poisson, 10 users"},
		"users": {experiment.Workload{Data: "x.jsonl", Users: 200}, &lab.Scenario{Rows: 1000}, []experiment.Level{closed},
			"load: x.jsonl (1,000 rows); closed, 50 connections, 200 users"},
		"a script": {experiment.Workload{Script: "load.lua"}, nil, []experiment.Level{{Connections: 10, Rate: 500}},
			"load: load.lua; open, 500/s constant, 10 connections"},
		"several": {levels: []experiment.Level{closed, {Connections: 10}, {Connections: 5}, {Connections: 2}},
			want: "load: closed, 50 connections; closed, 10 connections; 2 levels more"},
	} {
		r := record(compared("cpu", "b", 0.65, 0.55, 0.85, stats.Different))
		r.Experiment.Workload, r.Experiment.Levels, r.Scenario = c.work, c.levels, c.size
		if a := Of(r); a.Load != c.want || !strings.HasPrefix(a.ConditionsText(), c.want+"; ") {
			t.Errorf("%s: %q, want %q", name, a.Load, c.want)
		}
	}
}

// The request of an experiment is its method, and its path or the first addresses, without queries and credentials; files
// that say it stand in the load.
func TestRequestText(t *testing.T) {
	at := func(urls ...string) (all []experiment.Entry[experiment.Definition]) {
		for _, u := range urls {
			all = append(all, experiment.Entry[experiment.Definition]{Value: experiment.Definition{URL: experiment.Template(u)}})
		}
		return all
	}
	for _, c := range []struct {
		variants []experiment.Entry[experiment.Definition]
		work     experiment.Workload
		want     string
	}{
		{nil, experiment.Workload{}, ""},
		{at("http://a:{{port}}/x", "http://a:{{port}}/x"), experiment.Workload{}, "GET http://a:{{port}}/x"},
		{at("http://me:secret@a/?token=secret", "http://b/?q=1"), experiment.Workload{Request: experiment.Request{Method: "PUT"}},
			"PUT http://me:(redacted)@a/ and http://b/"},
		{at("http://a/", "http://b/", "http://c/", "http://d/"), experiment.Workload{}, "GET http://a/, http://b/ and 2 more"},
		{at("http://a/"), experiment.Workload{Request: experiment.Request{Path: "/y?token=secret"}}, "GET /y"},
		{at("http://a/"), experiment.Workload{Hurl: "shop.hurl"}, ""},
	} {
		r := &lab.Record{Definition: lab.Definition{Experiment: &experiment.Experiment{Variants: c.variants, Workload: c.work}}}
		if got := RequestText(r); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}

// The noise of the baseline is a factor, which is less downwards than upwards: a change of −37 % is
// beyond a noise of −33 to +49 %, as its verdict says.
func TestNoiseInBothDirections(t *testing.T) {
	aa := compared("throughput", "go (A/A)", 1.12, 0.91, 1.4856, stats.Inconclusive)
	aa.Control, aa.Alone = true, stats.Interval{Low: 0.937, Estimate: 1.12, High: 1.4856, Level: 0.97}
	worse := compared("throughput", "b", 0.631, 0.571, 0.845, stats.Different)
	worse.Floor = 0.4856
	a := Of(record(aa, worse))
	if f := a.Groups[0].Findings[0]; f.Verdict != answer.Worse || f.Effect != "−37 %" {
		t.Errorf("%+v", f)
	}
	if want := "go may differ from itself by −33 to +49 %"; a.Groups[0].Noise != want {
		t.Errorf("%q, want %q", a.Groups[0].Noise, want)
	}
}

// A step that asks for another load says that the file has to be changed before its command is run.
func TestStepOfAnotherLoad(t *testing.T) {
	c := compared("cpu", "b", 0.65, 0.55, 0.85, stats.Different)
	c.OtherLoad = 2
	if next := Of(record(c)).Next; !strings.Contains(next.Says, "in the file") || next.Command != "dyno lab run x" {
		t.Errorf("%+v", next)
	}
}
