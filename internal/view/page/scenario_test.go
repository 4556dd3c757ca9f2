package page

import (
	"strings"
	"testing"

	"dyno/internal/view/page/pagetest"
)

// The page of a scenario has its iterations beside requests, draws their times by percentile, has
// failed checks first, and draws no rate of iterations over that of requests. A run without a
// scenario has nothing of it.
func TestScenarioPage(t *testing.T) {
	tab := chromium.OpenPage(t, runPage(t, shopping(newSampler(t))))
	first := tab.ElementText(`[aria-label="Checks"] tbody tr`)
	if !strings.HasPrefix(first, "<img src=x") || !strings.Contains(first, "58") {
		t.Errorf("the first check is %q", first)
	}
	if text := tab.ElementText(`[aria-label="Iterations"]`); !strings.Contains(text, "1,970") || !strings.Contains(text, "30") {
		t.Errorf("of iterations it says %q", text)
	}
	if text := tab.ElementText("#verdict .tiles"); !strings.Contains(text, "iteration p99") || !strings.Contains(text, "190/s") {
		t.Errorf("the tiles are %q", text)
	}
	for id, want := range map[string]bool{"spectrum": true, "throughput": false} {
		legend := pagetest.Evaluate[string](tab, `document.querySelector("#`+id+`").textContent`)
		word := map[bool]string{true: "failed iteration", false: "offered"}[want]
		if strings.Contains(legend, word) != want {
			t.Errorf("%s says %q", id, legend)
		}
	}
	tab = chromium.OpenPage(t, runPage(t, open(newSampler(t))))
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll('#iterations-all, [aria-label="Checks"]').length`); n != 0 {
		t.Error("a run without a scenario has iterations")
	}
	if text := tab.ElementText("#throughput"); !strings.Contains(text, "offered") {
		t.Errorf("throughput says %q", text)
	}
}
