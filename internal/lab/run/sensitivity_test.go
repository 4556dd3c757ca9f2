package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/lab/experiment"
)

// wrk sends GETs of a URL and nothing else: where a load is more, wrk is not tried, and the reason is known.
func TestWrkLoadsWhatItCan(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "wrk"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	for workload, want := range map[string]fact.Untried{
		"{}":                                    "",
		"{request: {path: /x}}":                 fact.MoreThanGET,
		"{auth: digest, user: 'ada:s'}":         fact.MoreThanGET,
		"{auth: 'sigv4:a/s3', user: 'key:one'}": fact.MoreThanGET,
	} {
		e, err := experiment.Read("x.yaml", strings.NewReader("version: 1\nname: x\nworkload: "+workload+
			"\nvariants: {a: {url: 'http://127.0.0.1:1/', served: 'http://127.0.0.1:1/n'}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		r := &running{Lab: &Lab{Experiment: e}}
		a := &arm{variant: experiment.Expand(e)[0]}
		if wrk, why := r.wrkArm(a, e.Levels[0]); why != want || (wrk == nil) != (want != "") {
			t.Errorf("%s: %q, want %q", workload, why, want)
		}
	}
}
