package page_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/view/chart"
	"dyno/internal/view/drawing"
	"dyno/internal/view/labreport"
	"dyno/internal/view/page"
	"dyno/internal/view/payload"
	"dyno/internal/view/reporttest"
)

var update = flag.Bool("update", false, "write the golden files")

// picturedOnce are the views that several tests look at.
var picturedOnce struct {
	sync.Once
	views map[string][]chart.View
}

// pictured are the views of every fixture of the page.
func pictured(t *testing.T) map[string][]chart.View {
	t.Helper()
	picturedOnce.Do(func() { picturedOnce.views = pictureFixtures(t) })
	if picturedOnce.views == nil {
		t.Fatal("the fixtures could not be made: see the test before")
	}
	return picturedOnce.views
}

func pictureFixtures(t *testing.T) map[string][]chart.View {
	t.Helper()
	all := map[string][]chart.View{}
	for name, r := range page.Results(t) {
		all[name] = chart.Run(payload.OfRun(r))
	}
	p, err := payload.OfExperiment(page.ExperimentAt(t, 6, 3, []string{"c10", "c100", "r500"}), "")
	if err != nil {
		t.Fatal(err)
	}
	all["experiment"] = chart.Experiment(p)
	many := page.ExperimentOf(t, 6, 3, []string{"c10", "c40", "c100"}, "v3", "v4", "v5", "v6", "v7")
	if p, err = payload.OfExperiment(many, page.PastFolder(t, many, 20)); err != nil {
		t.Fatal(err)
	}
	all["many"] = chart.Experiment(p)
	all["screening"] = slices.DeleteFunc(chart.Experiment(screenedPage(t)), func(v chart.View) bool {
		return !strings.HasPrefix(v.Name, "half-normal")
	})
	return all
}

// screenedPage is what the page of a screening is drawn from.
func screenedPage(t *testing.T) *payload.Experiment {
	t.Helper()
	p, err := payload.OfExperiment(page.ScreenedFolder(t), "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every view is drawn in both forms, light and dark: an SVG that is well formed, has its title and
// no markup of others, and a PNG that can be read. The SVG of some are goldens.
func TestPictures(t *testing.T) {
	kept := map[string][]string{"closed": {"heat", "spectrum"}, "failing": {"status", "routes"},
		"open": {"throughput"}, "experiment": {"decide", "cost-1", "flame-3-grown"},
		"agents": {"agents"}, "many": {"spectrum-1", "past-1", "server-1-cpu-of-the-machine"},
		"screening": {"half-normal-1"}}
	for name, views := range pictured(t) {
		for _, v := range views {
			if v.Empty != "" {
				if err := drawing.Write(io.Discard, v, drawing.Options{Form: drawing.SVG, Width: 800}); err == nil {
					t.Errorf("%s %s is empty, and was drawn", name, v.Name)
				}
				continue
			}
			var svg bytes.Buffer
			if err := drawing.Write(&svg, v, drawing.Options{Form: drawing.SVG, Width: 800, Dark: len(v.Name)%2 == 1}); err != nil {
				t.Fatal(name, v.Name, err)
			}
			checkSVG(t, name+" "+v.Name, svg.Bytes(), v)
			if slices.Contains(kept[name], v.Name) {
				reporttest.Golden(t, name+"."+v.Name+".svg", svg.Bytes(), *update)
			}
		}
		writePNG(t, name, views[0])
		if name == "many" {
			for _, one := range []string{"spectrum-1", "flame-1", "past-1", "published", "bend-1"} {
				writePNG(t, name, find(t, views, one))
			}
		}
	}
}

// The picture beside a summary has every comparison, and the colours that its reader prefers.
func TestRatios(t *testing.T) {
	p, err := payload.OfExperiment(page.ExperimentAt(t, 6, 3, []string{"c10", "c100", "r500"}), "")
	if err != nil {
		t.Fatal(err)
	}
	v := chart.Ratios(payload.OfRecord(p.Record))
	var svg bytes.Buffer
	if err := drawing.Write(&svg, v, drawing.Options{Form: drawing.SVG, Width: 840, Both: true}); err != nil {
		t.Fatal(err)
	}
	checkSVG(t, "ratios", svg.Bytes(), v)
	rows, text := 0, svg.String()
	for _, r := range v.Rows {
		if !r.Head {
			rows++
		}
		if !strings.Contains(text, html.EscapeString(cmp.Or(r.Said(), r.Label))) {
			t.Errorf("it does not say %q, %q", r.Label, r.Said())
		}
	}
	if rows != len(p.Record.Verdicts) {
		t.Errorf("%d rows of %d comparisons", rows, len(p.Record.Verdicts))
	}
	for _, want := range []string{`fill="#ffffff" class="paper"`, "prefers-color-scheme:dark", ".paper:not([fill=none]){fill:#14171a}"} {
		if !strings.Contains(text, want) {
			t.Errorf("it has no %s", want)
		}
	}
	var none lab.Record
	none.Experiment = new(experiment.Experiment)
	if v := chart.Ratios(payload.OfRecord(&none)); v.Empty == "" {
		t.Error("where nothing was compared there is a picture")
	}
}

// writePNG draws one view as PNG. Its pixels are not a golden: rounding differs between processors.
func writePNG(t *testing.T, name string, v chart.View) {
	t.Helper()
	if v.Empty != "" {
		return
	}
	var picture bytes.Buffer
	if err := drawing.Write(&picture, v, drawing.Options{Form: drawing.PNG, Width: 400}); err != nil {
		t.Fatal(name, v.Name, err)
	}
	read, err := png.Decode(&picture)
	if err != nil || read.Bounds().Dx() != 800 {
		t.Errorf("%s %s: %v, %v", name, v.Name, err, read.Bounds())
	}
}

// checkSVG checks that a picture is XML without scripts and handlers, has a title, and shows the
// title of its view.
func checkSVG(t *testing.T, name string, svg []byte, v chart.View) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	var words strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if !slices.Contains([]string{"svg", "title", "style", "path", "circle", "text"}, e.Name.Local) {
				t.Errorf("%s has an element %s", name, e.Name.Local)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href") {
					t.Errorf("%s has the attribute %s", name, a.Name.Local)
				}
			}
		case xml.CharData:
			words.Write(e)
		}
	}
	first := strings.Fields(v.Title)[0]
	if !strings.Contains(words.String(), first) || !strings.Contains(string(svg), "<title>") {
		t.Errorf("%s does not say %q", name, first)
	}
}

// dataOf is the payload of a page as its script reads it.
func dataOf(t *testing.T, write func(io.Writer) error) map[string]any {
	t.Helper()
	var text bytes.Buffer
	if err := write(&text); err != nil {
		t.Fatal(err)
	}
	raw, err := page.Data(text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var data map[string]any
	if err := json.Unmarshal(raw, &data); err != nil {
		t.Fatal(err)
	}
	return data
}

// at is the value at a path of a payload.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			a, _ := v.([]any)
			if step >= len(a) {
				return nil
			}
			v = a[step]
		}
	}
	return v
}

func find(t *testing.T, views []chart.View, name string) chart.View {
	t.Helper()
	v, err := chart.Find(views, name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// near are equal but for the four digits that columns of the page have.
func near(a float64, b any) bool {
	f, is := b.(float64)
	return is && math.Abs(a-f) <= 1e-3*math.Abs(f)
}

// A picture of a run has the figures of its page.
func TestPicturesAgreeWithThePageOfARun(t *testing.T) {
	r := page.Results(t)["closed"]
	data := dataOf(t, func(w io.Writer) error { return page.Run(w, r) })
	views := chart.Run(payload.OfRun(r))
	checked := 0
	for _, m := range find(t, views, "heat").Marks {
		key := map[string]string{"p50": "p50_us", "p99": "p99_us", "max": "max_us"}[m.Name]
		for i, p := range m.Points {
			if key == "" || math.IsNaN(p.Y) {
				continue
			}
			if want := at(data, "result", "series", i, key); !near(p.Y, want) {
				t.Fatalf("%s: %v is %v, in the page %v", m.Name, p.X, p.Y, want)
			}
			checked++
		}
	}
	for _, m := range find(t, views, "throughput").Marks {
		for i, p := range m.Points {
			point := at(data, "result", "series", i)
			from := 0.0
			if i > 0 {
				from = at(data, "result", "series", i-1, "t_s").(float64)
			}
			want := at(point, m.Name).(float64) / (at(point, "t_s").(float64) - from)
			if !near(p.Y, want) {
				t.Fatalf("%s: %v is %v, in the page %v", m.Name, p.X, p.Y, want)
			}
			checked++
		}
	}
	if checked < 200 {
		t.Errorf("only %d figures were compared", checked)
	}
}

// A picture of an experiment has the ratios, intervals and verdicts of its page.
func TestPicturesAgreeWithThePageOfAnExperiment(t *testing.T) {
	dir := page.ExperimentFolder(t, 6, 3)
	data := dataOf(t, func(w io.Writer) error { return page.Experiment(w, dir, "") })
	p, err := payload.OfExperiment(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	views := slices.DeleteFunc(chart.Experiment(p), func(v chart.View) bool {
		return v.Figure != "decide" || v.Name == "overview"
	})
	for i, v := range views {
		findings := at(data, "answer", "groups", i, "findings").([]any)
		var ratios []float64
		for _, m := range v.Marks {
			if m.Name == "ratio" {
				ratios = append(ratios, m.Points[0].X)
			}
		}
		for k, f := range findings {
			c := at(data, "record", "verdicts", int(at(f, "comparison").(float64)))
			verdict := at(f, "verdict").(string)
			if why := orEmpty(at(f, "why")); why != "" && (verdict == "better" || verdict == "worse") {
				verdict += fmt.Sprintf(", %v", why) // below the verdict
			}
			says := fmt.Sprintf("%v %v %v", orEmpty(at(f, "effect")), orEmpty(at(f, "interval")), verdict)
			row := v.Rows[k]
			said := row.Says
			if row.Note != "" {
				said += ", " + row.Note
			}
			if !near(ratios[k], at(c, "ratio")) || strings.Fields(said)[0] != strings.Fields(says)[0] ||
				!strings.HasSuffix(said, verdict) {
				t.Errorf("%s: %v %q, in the page %v %q", v.Name, ratios[k], said, at(c, "ratio"), says)
			}
			checked++
		}
	}
	if checked == 0 {
		t.Error("nothing was compared")
	}
}

// The half-normal plot of a screening has the effects and margins of its page, and the names of those
// that stand out.
func TestHalfNormalPictureAgreesWithThePage(t *testing.T) {
	p := screenedPage(t)
	v := find(t, chart.Experiment(p), "half-normal-1-throughput")
	i := slices.IndexFunc(p.HalfNormals, func(h lab.HalfNormal) bool { return h.Metric == "throughput" })
	if i < 0 {
		t.Fatalf("the page has %+v", p.HalfNormals)
	}
	h := p.HalfNormals[i]
	var points, names []string
	for _, m := range v.Marks {
		at := m.Points[0]
		switch {
		case m.Kind == chart.Text:
			names = append(names, m.Name)
		case m.Name == "effect":
			points = append(points, fmt.Sprint(at.X, at.Y))
		case m.Name == "margin of error" && at.X != h.Alone, m.Name == "simultaneous margin of error" && at.X != h.Together:
			t.Errorf("%s is at %v, in the page %v and %v", m.Name, at.X, h.Alone, h.Together)
		}
	}
	var want, stand []string
	for _, e := range slices.Backward(h.Effects) {
		want = append(want, fmt.Sprint(e.Size, e.Quantile))
		if e.StandsOut {
			stand = append(stand, e.Name)
		}
	}
	if !slices.Equal(points, want) || !slices.Equal(names, stand) || len(names) < 4 {
		t.Errorf("%v and %q, in the page %v and %q", points, names, want, stand)
	}
}

func orEmpty(v any) any {
	if v == nil {
		return ""
	}
	return v
}

// A percentile has one colour and one dash in every view, and a view says of which load it is.
func TestPercentilesHaveOneColour(t *testing.T) {
	of := map[string]chart.Key{}
	views := append(chart.Run(payload.OfRun(page.Results(t)["closed"])), chart.Capacity(payload.OfCurve(page.Swept(10)))...)
	for _, v := range views {
		for _, k := range v.Legend {
			first, seen := of[k.Name]
			if of[k.Name] = k; seen && slices.Contains([]string{"p50", "p99", "max"}, k.Name) && (k.Ink != first.Ink || k.Dash != first.Dash) {
				t.Errorf("%s: %+v, and elsewhere %+v", v.Name, k, first)
			}
		}
		if v.About == "" || v.Empty == "" && v.Name == "heat" && (!strings.Contains(v.About, "closed") || !strings.Contains(v.About, "UTC")) {
			t.Errorf("%s is of %q", v.Name, v.About)
		}
	}
}

// A plot of more than five lines is divided: each variant has a small plot, with the line of its
// baseline, and none is left out.
func TestNothingIsDropped(t *testing.T) {
	views := pictured(t)["many"]
	for name, want := range map[string]int{"spectrum-1": 7, "shift-1": 7, "ladder-1": 7, "bend-1": 7, "warmup-1": 8, "past-1": 8} {
		v := find(t, views, name)
		if len(v.Panels) != want || len(v.Marks) != 0 {
			t.Errorf("%s: %d small plots and %d marks, want %d", name, len(v.Panels), len(v.Marks), want)
		}
		for _, p := range v.Panels {
			if len(p.Marks) == 0 {
				t.Errorf("%s: %s has nothing", name, p.Title)
			}
		}
	}
	for _, p := range find(t, views, "spectrum-1").Panels {
		var names []string
		for _, m := range p.Marks {
			if m.Kind == chart.Line && m.Name != "" {
				names = append(names, m.Name)
			}
		}
		if !slices.Contains(names, "go") || len(names) != 2 {
			t.Errorf("%s: %q", p.Title, names)
		}
	}
}

// Of a fleet each agent's rate is its own, also after a second of which nothing is known.
func TestAgentsAfterAGap(t *testing.T) {
	r := page.Results(t)["closed"]
	counts := func(n ...int64) (parts []*int64) {
		for _, one := range n {
			parts = append(parts, &one)
		}
		return parts
	}
	r.Window.MeasuredS = 6
	r.Fleet = &result.Fleet{Agents: []result.Agent{{Name: "a"}, {Name: "b"}}}
	r.Series = []result.Point{{T: 1, ByPart: counts(100, 10)}, {T: 1.0005}, // too short for a rate: a gap
		{T: 2, ByPart: counts(200, 20)}, {T: 4, ByPart: counts(600, 60)}, {T: 6, ByPart: counts(800)}}
	v := find(t, chart.Run(payload.OfRun(r)), "agents")
	rates := map[string][]float64{}
	for _, panel := range v.Panels {
		for _, p := range panel.Marks[0].Points {
			if !math.IsNaN(p.Y) {
				rates[panel.Title] = append(rates[panel.Title], math.Round(p.Y))
			}
		}
	}
	if want := []float64{100, 200, 300, 400}; !slices.Equal(rates["a"], want) {
		t.Errorf("a: %v, want %v", rates["a"], want)
	}
	if want := []float64{10, 20, 30}; !slices.Equal(rates["b"], want) {
		t.Errorf("b: %v, want %v", rates["b"], want)
	}
}

// The pictures of a flame graph and of earlier runs have the figures of the page.
func TestPicturesAgreeWithFlamesAndPast(t *testing.T) {
	dir := page.ExperimentFolder(t, 6, 3)
	home := page.PastFolder(t, dir, 20)
	data := dataOf(t, func(w io.Writer) error { return page.Experiment(w, dir, home) })
	p, err := payload.OfExperiment(dir, home)
	if err != nil {
		t.Fatal(err)
	}
	views := chart.Experiment(p)
	widths := map[string]float64{}
	for _, m := range find(t, views, "flame-1").Marks {
		if m.Kind == chart.Caption && m.Points[0].Y == 1 {
			widths[m.Name] += m.Points[1].X - m.Points[0].X
		}
	}
	checked := 0
	flame := at(data, "flames", 0)
	for i, depth := range at(flame, "depth").([]any) {
		name := at(flame, "names", int(at(flame, "name", i).(float64)))
		if depth.(float64) == 1 {
			share := at(flame, "all", i).(float64)
			if got := widths[name.(string)]; math.Abs(got-share) > 0.001 {
				t.Errorf("%s: %v wide, in the page %v", name, got, share)
			}
			checked++
		}
	}
	for _, m := range find(t, views, "past-1").Marks {
		if m.Kind != chart.Dot {
			continue
		}
		for _, line := range at(data, "past", "lines").([]any) {
			if at(line, "arm") == m.Of && at(line, "metric") == "throughput" && at(line, "level") == "c100" {
				for i, point := range m.Points {
					if !near(point.Y, at(line, "median", i)) {
						t.Errorf("%s, run %d: %v, in the page %v", m.Of, i, point.Y, at(line, "median", i))
					}
					checked++
				}
			}
		}
	}
	if checked < 40 {
		t.Errorf("only %d figures were compared", checked)
	}
}

// A name that is no view is answered with the names that there are.
func TestViewNames(t *testing.T) {
	views := chart.Run(payload.OfRun(page.Results(t)["closed"]))
	if _, err := chart.Find(views, "spektrum"); err == nil || !strings.Contains(err.Error(), "spectrum") {
		t.Error(err)
	}
}

// A chart has the verdict of the report: one that must not be relied on says so, and its dot is
// open.
func TestChartsHaveTheVerdictOfTheReport(t *testing.T) {
	dir := page.SpoiledFolder(t)
	p, err := payload.OfExperiment(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := labreport.ExperimentMarkdown(&text, p.Record); err != nil {
		t.Fatal(err)
	}
	views := chart.Experiment(p)
	at := slices.IndexFunc(views, func(v chart.View) bool { return v.Name == "forest-1" })
	for _, verdict := range []string{"worse, but unreliable", "the same, within 2 %, but unreliable"} {
		drawn := slices.ContainsFunc(views[at].Rows, func(r chart.Row) bool { return strings.HasSuffix(r.Says, "] "+verdict) })
		if !drawn || !strings.Contains(text.String(), "| "+verdict+" |") {
			t.Errorf("%s is drawn: %v\n%+v\n%s", verdict, drawn, views[at].Rows, text.String())
		}
	}
	for _, m := range views[at].Marks {
		if m.Name == "ratio" && m.Shape != chart.Ring {
			t.Errorf("a verdict that must not be relied on has a filled dot: %+v", m)
		}
	}
}
