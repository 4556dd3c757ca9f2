package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"dyno/internal/result"
	viewed "dyno/internal/view/answer"
	"dyno/internal/view/report"
	dashboard "dyno/internal/view/serve"
)

// Every remedy of a report is said in the words of the form that the dashboard has.
func TestRemediesInFormWords(t *testing.T) {
	source, err := os.ReadFile("../result/verdict.go")
	if err != nil {
		t.Fatal(err)
	}
	remedies := map[string]bool{}
	for _, m := range regexp.MustCompile(`\sCause += "([\w-]+)"`).FindAllStringSubmatch(string(source), -1) {
		for _, model := range []string{result.OpenLoop, result.ClosedLoop} {
			for _, threads := range []int{1, 2} {
				r := &result.Result{Model: model}
				r.Host.CPUs, r.Generator.Threads = 2, threads
				r.Generator.Reasons = []string{"why"}
				r.Generator.Doubts = []result.Doubt{{Cause: result.Cause(m[1]), Kind: result.HeldUp}}
				if remedy, has := strings.CutPrefix(report.Reasons(r)[0], "why; "); has {
					remedies[remedy] = true
				}
			}
		}
	}
	want := map[string]string{
		"raise -c, or lower -R": "raise “Connections”, or lower “Requests/s”",
		"have it do less in a step, or add threads (-t) where there are CPUs": "have it do less in a step, " +
			"or add threads where there are CPUs",
		"give it CPUs of its own":              "give it CPUs of its own",
		"give it CPUs of its own, or lower -R": "give it CPUs of its own, or lower “Requests/s”",
		"free its CPUs of other work, or give it CPUs of its own (--cpus)": "free its CPUs of other work, " +
			"or give it CPUs of its own (“cpus”)",
		"give the generator CPUs of its own":              "give the generator CPUs of its own",
		"give the generator CPUs of its own, or lower -R": "give the generator CPUs of its own, or lower “Requests/s”",
		"raise the limit (ulimit -n), or lower -c":        "raise the limit (ulimit -n), or lower “Connections”",
		"raise its backlog and net.core.somaxconn, or give --connect-rate": "raise its backlog and " +
			"net.core.somaxconn, or give “connect-rate”",
		"see the errors, give --warmup or a longer -d, or lower -c": "see the errors, give “warmup” or a longer " +
			"“Duration”, or lower “Connections”",
		"give --warmup":                         "give “warmup”",
		"lower -t, or give more CPUs":           "lower “threads”, or give more CPUs",
		"give a longer -d or a larger -n":       "give a longer “Duration” or a larger “requests”",
		"add threads (-t)":                      "add threads",
		"give it more CPUs, or another machine": "give it more CPUs, or another machine",
	}
	for remedy := range remedies {
		a := viewed.Answer{Cautions: []viewed.Caution{{Remedy: remedy}}}
		if got := dashboard.InFormWords(a, formFields()).Cautions[0].Remedy; got != want[remedy] {
			t.Errorf("%q is %q, want %q", remedy, got, want[remedy])
		}
	}
	for remedy := range want {
		if !remedies[remedy] {
			t.Errorf("no cause has the remedy %q", remedy)
		}
	}
}
