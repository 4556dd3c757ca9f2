package result

import (
	"slices"
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/say"
	"dyno/internal/setting"
)

// A proxy that the environment names is a fact of a result only if nothing could be reached.
func TestProxyUnused(t *testing.T) {
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy",
		"ALL_PROXY", "no_proxy", "NO_PROXY"} {
		t.Setenv(name, "")
	}
	unused := fact.Fact{Severity: fact.Error, Args: fact.ProxyUnused{Variable: "HTTPS_PROXY"},
		Remedies: []fact.Remedy{{Setting: "proxy", Value: fact.Some}}}
	for _, test := range []struct {
		ended   loadresult.Ending
		exclude string
		given   string // --proxy
		want    bool
	}{
		{loadresult.Unreachable, "", "", true}, {loadresult.Unreachable, "host", "", false},
		{loadresult.ByDuration, "", "", false}, {loadresult.Unreachable, "", "http://127.0.0.1:3128", false},
	} {
		t.Setenv("HTTPS_PROXY", "http://127.0.0.1:3128")
		t.Setenv("NO_PROXY", test.exclude)
		run := closedRun()
		run.Ended, run.Plan.Proxy = test.ended, test.given
		r := from(t, run)
		found := slices.ContainsFunc(r.Facts, func(f fact.Fact) bool { return f.Args == unused.Args })
		told := slices.Contains(r.Warnings, say.Text(unused, setting.Flag))
		if found != test.want || told != test.want {
			t.Errorf("%s, without %q: in facts %v, said %v", test.ended, test.exclude, found, told)
		}
	}
}
