package report

import (
	"strings"
	"testing"

	"dyno/internal/result"
	"dyno/internal/result/durations"
	"dyno/internal/view/reporttest"
)

// Where samples were kept the table of errors has what the server said.
func TestErrorTableHasAnswers(t *testing.T) {
	r := reporttest.Closed()
	r.Errors = []result.Error{{Phase: "expect", Kind: "status", Detail: "500", Count: 9, Sample: "no\x1b[2J such " + strings.Repeat("x", 100)},
		{Phase: "read", Kind: "reset", Detail: "reset", Count: 1}}
	table := errorTable(r)
	if got := table[1][5]; table[0][5] != "answer" || !strings.HasPrefix(got, "no·[2J such xx") || !strings.HasSuffix(got, "x…") ||
		len([]rune(got)) != 60 || table[2][5] != "" {
		t.Errorf("%q", table)
	}
	r.Errors = r.Errors[1:]
	if len(errorTable(r)[0]) != 5 {
		t.Errorf("%q", errorTable(r))
	}
}

// The line of the generator has the scenario's share, where there is one.
func TestGeneratorTextHasTheScenario(t *testing.T) {
	r := reporttest.Closed()
	if text := generatorText(r); strings.Contains(text, "scenario") {
		t.Error(text)
	}
	r.Generator.ScenarioPercent = new(12.3)
	if text := generatorText(r); !strings.Contains(text, "busy 48.9 %, holes and checks 12.3 %") {
		t.Error(text)
	}
	r.Plan.Steps = []string{"a", "b"}
	if text := generatorText(r); !strings.Contains(text, "busy 48.9 %, the scenario 12.3 %") {
		t.Error(text)
	}
}

// A route's percentiles that reach requests without an answer are lower bounds, as those of all
// routes. Those that several generators served have none.
func TestRouteTableOfUnanswered(t *testing.T) {
	r := &result.Result{Routes: []result.Route{
		{Name: "held", Completed: 96, Mean: 900, P50: 1000, P90: 2000, P99: 2e6, Max: 2e6,
			Over: &durations.Over{US: 2e6, Count: 4, Answered: 3000}},
		{Name: "answered", Completed: 9, Mean: 900, P50: 1000, P90: 2000, P99: 3000, Max: 4000},
		{Name: "of a fleet", Completed: 8, Mean: 900, Max: 2e6, Over: &durations.Over{US: 2e6, Count: 2}}}}
	for i, want := range []string{"900 µs 1.00 ms 2.00 ms over 2.00 s over 2.00 s", "900 µs 1.00 ms 2.00 ms 3.00 ms 4.00 ms",
		"900 µs – – – over 2.00 s"} {
		if got := strings.Join(RouteTable(r)[i+1][3:], " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// How often users logged in stands on a line of its own, with the answers for which they did so again.
func TestLoginsRow(t *testing.T) {
	for want, i := range map[string]result.Iterations{
		"": {},
		"20 first, 1,200 later; 1 answer refused": {Logins: &result.Logins{First: 20, Later: 1200}, Again: 1},
		"20 first, 0 later; 0 answers refused":    {Logins: &result.Logins{First: 20}},
		"0 first, 0 later; 3 answers refused":     {Logins: &result.Logins{}, Again: 3},
	} {
		got := ""
		for _, row := range scenarioRows(&result.Result{Scenario: result.Scenario{Iterations: &i}}) {
			if row.Name == "logins" {
				got = row.Text
			}
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
