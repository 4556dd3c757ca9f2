package page

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/view/page/pagetest"
)

// What a page shows before its script has run, on paper and in a picture that a program takes, is its
// answer and the figures of its first screen: drawn in the file, seen whole, in the page's colours.
func TestSeenBeforeScripts(t *testing.T) {
	html, _ := experimentHTML(t, experimentFolder(t, 6, 2))
	for name, want := range map[string]struct {
		html  []byte
		drawn int
		words []string
	}{
		"run":        {runPage(t, results(t)["closed"]), 3, []string{"500 requests/s on 100 connections", "Latency over time", "p99", "Percentile spectrum", "Throughput"}},
		"experiment": {html, 1, []string{"against go", "worse"}},
		"search":     {made(t, findings()["found"].write), 3, []string{"The search", "passed"}},
		"nothing":    {runPage(t, results(t)["bare"]), 0, nil},
	} {
		loader, rest, found := bytes.Cut(want.html, []byte("<script>"))
		if !found || !bytes.HasSuffix(rest, []byte("</script>\n</body>\n</html>\n")) {
			t.Fatalf("%s: the script is elsewhere", name)
		}
		file := filepath.Join(t.TempDir(), "page.html")
		if err := os.WriteFile(file, loader, 0o600); err != nil {
			t.Fatal(err)
		}
		tab := chromium.OpenTab(t)
		tab.Navigate((&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String())
		for _, width := range []int64{390, 1280} {
			tab.SetViewport(width, 900, width == 390)
			text := pagetest.Evaluate[string](tab, `document.body.textContent`)
			for _, words := range want.words {
				if !strings.Contains(text, words) {
					t.Errorf("%s, %d: it does not say %q", name, width, words)
				}
			}
			seen := pagetest.Evaluate[int](tab, `[...document.querySelectorAll(".drawn svg")].filter((e) => {
				const box = e.getBoundingClientRect();
				return box.width > 300 && box.right <= innerWidth && box.height > 100; }).length`)
			if seen != want.drawn {
				t.Errorf("%s, %d: %d figures are seen, want %d", name, width, seen, want.drawn)
			}
			for _, cut := range pagetest.Evaluate[[]string](tab, `[...document.querySelectorAll(".drawn svg text")].filter((e) => {
				const [text, svg] = [e, e.ownerSVGElement].map((e) => e.getBoundingClientRect());
				return text.left < svg.left - 1 || text.right > svg.right + 1; }).map((e) => e.textContent)`) {
				t.Errorf("%s, %d: %q is cut", name, width, cut)
			}
			inked := pagetest.Evaluate[bool](tab, `[...document.querySelectorAll(".drawn svg text")].every((e) =>
				getComputedStyle(e).fill === getComputedStyle(document.body).color || getComputedStyle(e).fill !== "rgb(0, 0, 0)")`)
			if !inked {
				t.Errorf("%s, %d: a text has not the page's colour", name, width)
			}
		}
		if dir := os.Getenv("DYNO_SCREENSHOTS"); dir != "" {
			tab.Screenshot(filepath.Join(dir, "static-"+strings.ReplaceAll(name, " ", "-")+".png"))
		}
	}
}

// What is printed is as wide as its paper: a browser would make the whole page smaller, or cut it.
func TestPrinted(t *testing.T) {
	html, _ := experimentHTML(t, experimentFolder(t, 6, 2))
	const width = 718 // px: A4 between margins of a centimetre
	for name, page := range map[string][]byte{"run": runPage(t, results(t)["streaming"]), "fleet": runPage(t, results(t)["agents"]),
		"search": made(t, findings()["found"].write), "experiment": html} {
		tab := chromium.OpenPage(t, page)
		tab.SetPaper(width, 1000)
		tab.OpenSections()
		for _, wide := range pagetest.Evaluate[[]string](tab, `[...document.querySelectorAll("main *")].filter((e) =>
			e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName + " " + e.textContent.slice(0, 60))`) {
			t.Errorf("%s: wider than its paper: %s", name, wide)
		}
		if dir := os.Getenv("DYNO_SCREENSHOTS"); dir != "" {
			tab.Screenshot(filepath.Join(dir, "printed-"+name+".png"))
		}
	}
}
