package report

import (
	"strings"
	"testing"

	"dyno/internal/result"
	"dyno/internal/view/reporttest"
)

// repeatable is of a server that was watched, and of an objective that ended the run.
func repeatable() *result.Result {
	r := reporttest.Watched()
	r.Server.Watch = []string{"nginx", "my server", "1234", "db@agent1"}
	r.Objectives = []result.Outcome{{Expr: "p99<1ms", Aborted: new(1.5)}}
	return r
}

// The same again watches the same server, and says what it cannot promise.
func TestRepeatingWatches(t *testing.T) {
	s := RunSentences(repeatable())
	for _, want := range []string{"--watch nginx --watch 'my server' --watch 1234 --watch db@agent1 ",
		"--slo 'p99<1ms' --abort-on-slo "} {
		if !strings.Contains(s.Command, want) {
			t.Errorf("it lacks %q: %s", want, s.Command)
		}
	}
	if s.Lost == "" {
		t.Error("a process ID can be promised")
	}
	if again := RunSentences(reporttest.Closed()); strings.Contains(again.Command, "--watch") || again.Lost != "" {
		t.Errorf("of a server that was not watched: %q, lost %q", again.Command, again.Lost)
	}
}
