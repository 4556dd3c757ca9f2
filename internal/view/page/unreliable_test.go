package page

import (
	"strings"
	"testing"

	"dyno/internal/view/page/pagetest"
)

// spoiledStory is an experiment in which one build is worse and one is the same. If it is spoiled,
// its verdicts must not be relied on.
func spoiledStory(t testing.TB, spoiled bool) *experimenter {
	const one, other, like = "old", "new", "like"
	f := newExperimenter(t, 6, 2, []string{"c50"})
	f.story = &story{name: "unreliable", about: "two builds", baseline: one, metrics: "cpu, p99",
		slower: map[string]float64{one: 1, other: 1.4, like: 1}, spread: 0.001, spoiled: spoiled}
	return f
}

// A verdict that must not be relied on says so beside its row, however narrow the window is, and its
// dot is open. It is never called a maybe.
func TestUnreliableIsDrawn(t *testing.T) {
	for _, spoiled := range []bool{true, false} {
		html, _ := experimentHTML(t, spoiledStory(t, spoiled).experiment())
		tab := chromium.OpenPage(t, html)
		for _, width := range []int64{390, 1280} {
			tab.SetViewport(width, 800, false)
			text := tab.ElementText("#decide .plot")
			if strings.Contains(text, "but unreliable") != spoiled || strings.Contains(text, "maybe") {
				t.Errorf("at %d, spoiled %v: %s", width, spoiled, text)
			}
			const filled = `[...document.querySelectorAll("#decide .plot [data-mark=dot] circle")]
				.filter((e) => e.getAttribute("fill") !== "var(--paper)").length`
			if n := pagetest.Evaluate[int](tab, filled); (n == 0) != spoiled {
				t.Errorf("at %d, spoiled %v: %d dots are filled", width, spoiled, n)
			}
		}
		placed(t, tab)
		const sure = `document.querySelector('#forest-1 [data-name=ratio] [fill="var(--bad)"]') !== null`
		if pagetest.Evaluate[bool](tab, sure) == spoiled {
			t.Errorf("spoiled %v: in the forest plot, that the variant is worse is drawn as sure: %v", spoiled, !spoiled)
		}
	}
}
