package run

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fairness"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/workload"
	"dyno/internal/redact"
	"dyno/internal/result"
)

// A server may repeat a secret wherever it says something.
func TestAnswersConcealed(t *testing.T) {
	const secret = "s3cretvalue"
	c := concealing(&experiment.Experiment{}, redact.PlainMark, []string{secret})
	said := "so " + secret + " it is"
	a := &fairness.Answer{URL: "http://h/" + secret, Reason: said, BodyStart: said,
		Header: []fairness.Line{{Name: "X-Said", Value: said}, {Name: "Location", Value: "/" + secret},
			{Name: "Set-Cookie", Value: "other"}},
		Gzip: &fairness.Encoded{Problem: said}, Unknown: &fairness.Unknown{Problem: said},
		Opens: fairness.Opens{Problem: said}, Varies: []string{"header " + secret}}
	c.answer(a)
	arm := &lab.Arm{Name: "one", Description: said, Missing: []string{said}, Unfit: said, Remedy: said, Version: said}
	c.arm(arm)
	for name, v := range map[string]any{"answer": a, "arm": arm} {
		b, err := json.Marshal(v)
		if err != nil || strings.Contains(string(b), secret) || strings.Contains(string(b), `"other"`) {
			t.Errorf("%s: %s, %v", name, b, err)
		}
		if !strings.Contains(string(b), redact.Plain) {
			t.Errorf("%s: %s has no mark", name, b)
		}
	}
	if got := concealing(&experiment.Experiment{}, redact.PlainMark, nil).said("postgres://u:hunter2@h/x"); strings.Contains(got, "hunter2") {
		t.Errorf("where no value is known, %s", got)
	}
	kept := &fairness.Answer{Reason: said}
	if (concealer{}).answer(kept); kept.Reason != said {
		t.Errorf("%q, and nothing is concealed", kept.Reason)
	}
}

// Of a secret nothing is left in texts that were cut within it, that write it in another way, or
// by which a process calls itself.
func TestPartsAndFormsConcealed(t *testing.T) {
	const secret = `Zq1"First9 Value+x`
	c := concealing(&experiment.Experiment{}, redact.PlainMark, []string{secret, "4711"})
	long := strings.Repeat("x", argsMax-9)
	t1 := &lab.Trial{
		Failure: &lab.Failure{Reason: fmt.Sprintf("it began with %q", secret[:9]),
			Output: secret[4:] + "\n" + url.QueryEscape(secret) + "\npin 4711 of 47110"},
		Programs: []lab.Program{
			{Path: "/usr/sbin/nginx", Args: []string{"nginx: master " + secret + " PASSWORD=hunter2x"}},
			{Path: "/usr/bin/env", Args: []string{"env", long + secret[:8]}}},
		Changed: []fairness.Difference{{After: url.PathEscape(secret)}},
		Result: &result.Result{
			Traffic:  result.Traffic{Errors: []result.Error{{Detail: fmt.Sprintf("bad line %q", secret)}}},
			Findings: result.Findings{Warnings: []string{base64.StdEncoding.EncodeToString([]byte("me:" + secret))}},
			Generator: result.Generator{Reasons: []string{
				fmt.Sprintf("no request completed (bad line %q)", secret)}}},
	}
	c.trial(t1)
	a := &fairness.Answer{BodyStart: strings.Repeat("y", 55) + secret + strings.Repeat("z", 90),
		Opens: fairness.Opens{Problem: fmt.Sprintf("%q…", secret[:12])}}
	c.answer(a)
	for name, v := range map[string]any{"trial": t1, "answer": a} {
		b, err := json.Marshal(v)
		for _, part := range []string{"Zq1", "First9", "Value", "hunter2x", "pin 4711",
			base64.StdEncoding.EncodeToString([]byte(secret[3:12]))} {
			if err != nil || strings.Contains(string(b), part) {
				t.Errorf("%s: %s is in %s, %v", name, part, b, err)
			}
		}
	}
	if !strings.Contains(t1.Failure.Output, "of 47110") || len(a.BodyStart) > 60 {
		t.Errorf("%q %q", t1.Failure.Output, a.BodyStart)
	}
	if got := t1.Programs[1].Args[0]; got != "env" {
		t.Errorf("a program's name became %q", got)
	}
}

// Where a load goes is said, though a header says the same.
func TestDestinationsAreSaid(t *testing.T) {
	e, err := experiment.Read("x.yaml", strings.NewReader(`version: 1
name: x
variants: {a: {processes: [{cmd: 'server {{port}}'}], url: 'http://127.0.0.1:{{port}}/'}}
`))
	if err != nil {
		t.Fatal(err)
	}
	c := concealing(e, redact.PlainMark, []string{"127.0.0.1", "10.11.12.13"})
	const reason = "connect 127.0.0.1:80: connection refused"
	t1 := &lab.Trial{Failure: &lab.Failure{Reason: reason + " (10.11.12.13)"},
		Programs: []lab.Program{{Path: "/usr/bin/server", Args: []string{"server", "127.0.0.1"}}}}
	c.trial(t1)
	if t1.Failure.Reason != reason+" ((redacted))" || t1.Programs[0].Args[1] != "127.0.0.1" {
		t.Errorf("%+v %+v", t1.Failure, t1.Programs)
	}
}

// The reasons of a grade repeat what a server or a generator said, and have no secret either.
func TestReasonsConcealed(t *testing.T) {
	const secret = "hunter2-said-again"
	t.Setenv("DYNO_T", secret)
	b := newTestBench(t)
	b.rates["base"], b.rates["same"] = 1000, 1000
	dir := t.TempDir()
	l := b.lab(dir, `
version: 1
name: reasons
design: {rounds: 6, seed: 7, warmup: {min: 0, max: 0}, measure: 1s, cooldown: 0, metrics: [throughput]}
workload: {request: {path: /, headers: {X-Auth: '{{env "DYNO_T"}}'}}}
levels: [{name: low, connections: 1}]
variants:
  base: {url: http://base.invalid/}
  same: {url: http://same.invalid/}
`)
	l.Keep = redact.PlainMark
	l.Load = func(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (*result.Result, error) {
		r, err := b.load(ctx, p, each)
		r.Generator.Verdict = result.Suspect
		r.Generator.Reasons = []string{"most failures were: bad line " + secret}
		if p.Target.Host == "same.invalid" {
			r.Requests, r.Rate = result.Requests{}, result.Rate{}
			r.Errors = []result.Error{{Phase: "protocol", Kind: "protocol", Count: 1, Detail: "bad line " + secret}}
		}
		return r, err
	}
	r, err := l.Run(t.Context())
	if !errors.Is(err, ErrNothingLeft) || strings.Contains(err.Error(), secret) {
		t.Fatal(err)
	}
	reasons := 0
	for _, s := range r.Trials {
		reasons += len(s.Reasons)
	}
	if reasons == 0 {
		t.Error("no trial has a reason")
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), secret) {
			t.Errorf("%s has the secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// What is secret of a load is looked for once for each arm and level, and not in each trial.
func TestSecretsOfALoadAreLearnedOnce(t *testing.T) {
	const many = 3000
	var headers strings.Builder
	for i := range many {
		fmt.Fprintf(&headers, "X-H%d: secret-%d\n      ", i, i)
	}
	e, err := experiment.Read("x.yaml", strings.NewReader(fmt.Sprintf(`version: 1
name: x
levels: [{name: low, connections: 1}, {name: high, connections: 2}]
workload:
  request:
    path: /
    headers:
      %s
variants: {a: {url: 'http://127.0.0.1:1/'}}
`, headers.String())))
	if err != nil {
		t.Fatal(err)
	}
	marked := 0
	keep := func(_, value string) string { marked++; return redact.PlainMark("", value) }
	r := &running{Lab: &Lab{Experiment: e, Keep: keep}, inputs: new(workload.Inputs)}
	r.conceal = concealing(e, keep, nil)
	a := &arm{Arm: lab.Arm{Name: "a"}, variant: experiment.Expand(e)[0]}
	port := 1
	allocations := func(keep redact.Replacer) float64 {
		r.Keep = keep
		return testing.AllocsPerRun(1, func() {
			made, _, err := r.plans(a, e.Levels[0], fmt.Sprintf("http://127.0.0.1:%d/", port), nil)
			if err != nil || len(made.Requests[0].Header) < many {
				t.Fatal(err, len(made.Requests))
			}
			port++
		})
	}
	allocations(keep)
	first := marked
	if first < many {
		t.Fatalf("%d values are known", first)
	}
	with, without := allocations(keep), allocations(nil)
	if with-without >= many || marked != first {
		t.Errorf("another trial makes %v allocations more than without secrets, and marks %d values",
			with-without, marked-first)
	}
	if got := r.conceal.said("it was secret-2999"); got != "it was (redacted)" {
		t.Error(got)
	}
}
