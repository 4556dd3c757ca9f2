package page

import (
	"fmt"
	"path/filepath"
	"testing"

	"dyno/internal/view/page/pagetest"
)

// Long names of folder and variants, as dyno vs makes them of addresses and revisions, leave
// everything on the first screen inside the window, the buttons too.
func TestLongNames(t *testing.T) {
	const one, other = "127.0.0.1-9101", "rewrite-of-the-connection-pool-without-a-lock-and-with-a-queue"
	s := &story{name: "vs-127.0.0.1-9101-127.0.0.1-9102", about: "two addresses", baseline: one, metrics: "throughput, p99",
		slower: map[string]float64{one: 1, other: 1.4}, spread: 0.01}
	f := newExperimenter(t, 6, 2, []string{"c50"})
	f.dir = filepath.Join(f.dir, s.name+"-20261125-223633-28930")
	f.story = s
	html, _ := experimentHTML(t, f.experiment())
	tab := chromium.OpenPage(t, html)
	for _, width := range []int64{390, 1200, 1280} {
		tab.SetViewport(width, 800, false)
		outside := fmt.Sprintf(`[...document.querySelectorAll("header *, #answer *, #band *")].filter((e) => e.checkVisibility())
			.map((e) => [e, e.getBoundingClientRect()]).filter(([, box]) => box.right > %d || box.left < 0)
			.map(([e, box]) => e.tagName + "." + e.className + " ends at " + Math.round(box.right) + ": " + e.textContent.slice(0, 60))`, width)
		for _, what := range pagetest.Evaluate[[]string](tab, outside) {
			t.Errorf("at %d: %s", width, what)
		}
		if n := pagetest.Evaluate[int](tab, `[...document.querySelectorAll(".next button, #copy-summary, #save-chart")]
			.filter((e) => e.checkVisibility()).length`); n != 3 {
			t.Errorf("at %d: %d of 3 buttons", width, n)
		}
	}
	placed(t, tab)
}
