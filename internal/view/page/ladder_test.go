package page

import (
	"fmt"
	"strings"
	"testing"

	"dyno/internal/view/page/pagetest"
)

// Levels that differ in their load only are drawn along it, closed ones apart from open ones, with
// the law of each variant's throughput; every number is that of the JSON.
func TestLadders(t *testing.T) {
	dir := experimentAt(t, 6, 2, []string{"c100", "c1", "r500", "c16", "c4", "r250"})
	html, data := experimentHTML(t, dir)
	for path, want := range map[string]any{"ladders.0.open": false, "ladders.0.at.0": 1.0, "ladders.0.at.3": 100.0,
		"ladders.0.levels.1": "c4", "ladders.1.open": true, "ladders.1.at.0": 250.0, "ladders.1.laws": nil,
		"ladders.0.laws.0.arm": "go", "ladders.0.laws.0.trials": 24.0} {
		if got, _ := lookup(data, path); got != want {
			t.Errorf("%s is %v, not %v", path, got, want)
		}
	}
	// Throughput is 550 n / (n + 10): γ is 50, σ 1/11, and there is no peak.
	for path, want := range map[string]float64{"gamma_per_s": 50, "sigma": 1 / 11.0} {
		got, _ := lookup(data, "ladders.0.laws.0.law."+path)
		if v, is := got.(float64); !is || v < want*0.9 || v > want*1.1 {
			t.Errorf("%s is %v, not about %v", path, got, want)
		}
	}
	tab := chromium.OpenPage(t, html)
	tab.OpenSections()
	for _, id := range []string{"ladder-1", "ladder-2", "bend-1", "bend-2"} {
		if n := pagetest.Evaluate[int](tab, fmt.Sprintf(`document.querySelectorAll("#%s .plot svg path").length`, id)); n < 3 {
			t.Errorf("%s: %d curves", id, n)
		}
	}
	inPlace(t, tab, "load")
	pagetest.Evaluate[bool](tab, `(() => { const e = document.querySelector("#ladder-1 select"); e.value = "p99";
		e.dispatchEvent(new Event("change")); return true; })()`)
	tab.WaitUntil(`location.hash.includes("ladder-1.measure=p99")`)
	tab.ShowTables()
	shown := tab.NumbersByPath()
	checkNumbers(t, shown, data)
	for path := range numbers(t, data) {
		wanted := strings.HasPrefix(path, "ladders.") && (strings.Contains(path, ".at.") || strings.Contains(path, ".law.") ||
			strings.HasSuffix(path, ".r2") || strings.HasSuffix(path, ".trials"))
		if _, there := shown[path]; wanted && !there {
			t.Errorf("%s is not on the page", path)
		}
	}
}

// Levels that differ in something else too are no ladder.
func TestNoLadder(t *testing.T) {
	_, data := experimentHTML(t, experimentFolder(t, 1, 2))
	if all, there := lookup(data, "ladders"); there {
		t.Errorf("a closed and an open level are a ladder: %v", all)
	}
}
