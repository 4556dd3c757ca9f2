package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dyno/internal/lab/experiment"
	"dyno/internal/view/page/pagetest"
)

// screenedFile is a screening of eight settings in sixteen runs.
const screenedFile = `
version: 1
name: screening
design: {rounds: %d, seed: 7, screen: true, measure: 2s, metrics: [cpu, throughput]}
levels: [%s]
factors:
  access_log: ["on", "off"]
  sendfile: ["on", "off"]
  gzip: ["on", "off"]
  etag: ["on", "off"]
  aio: ["on", "off"]
  tcp_nopush: ["on", "off"]
  directio: ["off", "4m"]
  cache: ["off", "on"]
variants:
  nginx: {processes: [{cmd: "true {{access_log}} {{sendfile}} {{gzip}} {{etag}} {{aio}} {{tcp_nopush}} {{directio}} {{cache}}"}], url: "http://127.0.0.1:1/"}
`

// screenedStory is a screening in which the access log, sendfile and the cache matter, and the cache
// more where sendfile is off. A screening takes these two together for four pairs, of which that of
// the access log and directio is the first.
func screenedStory(t testing.TB) *story {
	t.Helper()
	file := fmt.Sprintf(screenedFile, 1, levelFile("c100"))
	e, err := experiment.Read("screening.yaml", strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	s := &story{name: "screening", spread: 0.004, text: screenedFile, slower: map[string]float64{}}
	for _, v := range experiment.Expand(e) {
		if s.baseline == "" {
			s.baseline = v.Name
		}
		slower := 1.0
		for setting, factor := range map[string]float64{"access_log=off": 0.9, "sendfile=off": 1.2,
			"cache=on": 0.95} {
			if strings.Contains(v.Name, setting) {
				slower *= factor
			}
		}
		if strings.Contains(v.Name, "sendfile=off") && strings.Contains(v.Name, "cache=on") {
			slower *= 0.9
		}
		s.slower[v.Name] = slower
	}
	return s
}

// folderOfRounds is the experiment's folder, with so many rounds.
func (s *story) folderOfRounds(t testing.TB, rounds int) string {
	t.Helper()
	f := newExperimenter(t, rounds, 2, []string{"c100"})
	f.story = s
	return f.experiment()
}

// The half-normal plot of a screening names what stands out and draws Lenth's margins, in one round,
// where they decide, as in eight. Each number is that of the JSON, and no text lies over another.
func TestHalfNormalPlot(t *testing.T) {
	for _, rounds := range []int{1, 8} {
		html, data := experimentHTML(t, screenedStory(t).folderOfRounds(t, rounds))
		tab := chromium.OpenPage(t, html)
		tab.OpenSections()
		shown := pagetest.Evaluate[[]string](tab, `[...document.querySelectorAll("#half-normal-1 [role=img] svg text")].map((e) => e.textContent)`)
		for _, name := range []string{"access_log=off", "sendfile=off", "cache=on", "access_log=off and directio=4m, or 3 more"} {
			if !slices.Contains(shown, name) {
				t.Errorf("%d rounds: %s is not labelled: %q", rounds, name, shown)
			}
		}
		for _, name := range []string{"gzip=off", "etag=off", "directio=4m"} {
			if slices.Contains(shown, name) {
				t.Errorf("%d rounds: %s is labelled, and does nothing", rounds, name)
			}
		}
		if !slices.Contains(shown, "factor, up or down →") || !slices.Contains(shown, "↑ quantile of |z|") {
			t.Errorf("an axis has no label: %q", shown)
		}
		marks := func(what string) int {
			return pagetest.Evaluate[int](tab, fmt.Sprintf(`document.querySelectorAll('#half-normal-1 [role=img] svg %s').length`, what))
		}
		if n := marks("[data-mark=dot] circle"); n != 15 {
			t.Errorf("%d points, want those of 8 settings and 7 of two together", n)
		}
		if n := marks(`[data-mark=rule] path`); n != 2 {
			t.Errorf("%d margins of error are drawn", n)
		}
		inPlace(t, tab, "screened")
		tab.ShowTables()
		numbers := tab.NumbersByPath()
		checkNumbers(t, numbers, data)
		for _, path := range []string{"half_normals.0.effects.14.size", "half_normals.0.effects.0.quantile",
			"half_normals.1.margin_of_error", "half_normals.0.simultaneous_margin_of_error", "half_normals.0.noise"} {
			if _, there := numbers[path]; !there {
				t.Errorf("%s is not on the page", path)
			}
		}
	}
}

// Another experiment has no such plot.
func TestNoHalfNormalPlot(t *testing.T) {
	html, data := experimentHTML(t, experimentFolder(t, 1, 2))
	if all, there := lookup(data, "half_normals"); there {
		t.Errorf("an experiment without a screening has half-normal plots: %v", all)
	}
	if pagetest.Evaluate[bool](chromium.OpenPage(t, html), `document.querySelector("#screened") !== null`) {
		t.Error("an experiment without a screening has a section for it")
	}
}

// BenchmarkScreenshotsOfScreenings takes pictures of the plot.
func BenchmarkScreenshotsOfScreenings(b *testing.B) {
	html, _ := experimentHTML(b, screenedStory(b).folderOfRounds(b, 1))
	shootSections(b, chromium.OpenPage(b, html), "screening", "screened")
}
