package page

import (
	"testing"

	"dyno/internal/view/page/pagetest"
)

// No line of a page ends within a number and its unit, however narrow the window is.
func TestUnitsStay(t *testing.T) {
	const parted = `(() => {
		const bad = [], all = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
		for (let n = all.nextNode(); n; n = all.nextNode()) {
			if (n.parentElement.closest("pre, svg, option")) continue;
			for (const m of n.data.matchAll(/\d (?:%|[µmn]?s\b|[kMG]B\b)/g)) {
				const r = document.createRange();
				r.setStart(n, m.index);
				r.setEnd(n, m.index + m[0].length);
				if (new Set([...r.getClientRects()].map((box) => Math.round(box.top))).size > 1) bad.push(n.data);
			}
		}
		return bad;
	})()`
	for _, name := range []string{"closed", "streaming", "agents", "watched"} {
		tab := chromium.OpenPage(t, runPage(t, results(t)[name]))
		tab.OpenSections()
		for width := int64(360); width <= 420; width += 10 {
			tab.SetViewport(width, 900, false)
			for _, text := range pagetest.Evaluate[[]string](tab, parted) {
				t.Errorf("%s, %d: a line ends between a number and its unit: %s", name, width, text)
			}
		}
	}
}

// On a telephone a sentence in a table is seen without scrolling, and its row is as high as its words ask for.
func TestSentencesInTables(t *testing.T) {
	tab := chromium.OpenPage(t, runPage(t, results(t)["agents"]))
	tab.OpenSections()
	tab.SetViewport(390, 900, false)
	seen := pagetest.Evaluate[[]string](tab, `[...document.querySelectorAll("td.sentences > *")].filter((e) => {
		const box = e.getBoundingClientRect(), row = e.closest("tr").querySelector("td").getBoundingClientRect();
		return box.left >= 0 && box.right <= innerWidth && box.top >= row.bottom - 1 && row.height < 40; }).map((e) => e.textContent)`)
	if len(seen) != 2 {
		t.Errorf("sentences that are seen: %q", seen)
	}
}
