package page

import (
	"strings"
	"testing"

	"dyno/internal/view/page/pagetest"
)

// The page of a scenario has its iterations beside requests, draws their times by percentile, has
// failed checks first, and draws no rate of iterations over that of requests. A run without a
// scenario has nothing of it but its checks, if it has any.
func TestScenarioPage(t *testing.T) {
	tab := chromium.OpenPage(t, runPage(t, shopping(newSampler())))
	tab.OpenSections()
	first := tab.ElementText(`[aria-label="Checks"] tbody tr`)
	if !strings.HasPrefix(first, "<img src=x") || !strings.Contains(first, "58") {
		t.Errorf("the first check is %q", first)
	}
	if text := tab.ElementText(`[aria-label="Iterations"]`); !strings.Contains(text, "1,970") || !strings.Contains(text, "30") {
		t.Errorf("of iterations it says %q", text)
	}
	if text := tab.ElementText("#answer .tiles"); !strings.Contains(text, "iteration p99") || !strings.Contains(text, "190/s") {
		t.Errorf("the tiles are %q", text)
	}
	for _, c := range []struct {
		id, word string
		want     bool
	}{{"spectrum", "failed iteration", true}, {"throughput", "offered", false}, {"iterations", "offered", true}} {
		text := pagetest.Evaluate[string](tab, `document.querySelector("#`+c.id+`").textContent`)
		if strings.Contains(text, c.word) != c.want {
			t.Errorf("%s says %q", c.id, text)
		}
	}
	tab = chromium.OpenPage(t, runPage(t, open(newSampler())))
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll('#iterations-all, #iterations, [aria-label="Checks"]').length`); n != 0 {
		t.Error("a run without a scenario has iterations")
	}
	if text := tab.ElementText("#throughput"); !strings.Contains(text, "offered") {
		t.Errorf("throughput says %q", text)
	}
	tab = chromium.OpenPage(t, runPage(t, checked(newSampler())))
	if text := tab.ElementText("#iterations-all"); strings.Contains(text, "Iterations") ||
		!strings.Contains(text, "contains:ok") || !strings.Contains(text, "99.996 %") {
		t.Errorf("of checks without a scenario it says %q", text)
	}
	if text := tab.ElementText(`[aria-label="Errors"] tbody`); !strings.Contains(text, "no <b>such</b> order") {
		t.Errorf("of errors it says %q", text)
	}
}
