package page_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/view/chart"
	"dyno/internal/view/page"
	"dyno/internal/view/reporttest"
)

var update = flag.Bool("update", false, "write the golden files")

// pictured are the views of every fixture of the page.
func pictured(t *testing.T) map[string][]chart.View {
	t.Helper()
	all := map[string][]chart.View{}
	for name, r := range page.Results(t) {
		all[name] = chart.Run(page.OfRun(r))
	}
	p, err := page.OfExperiment(page.ExperimentAt(t, 6, 3, []string{"c10", "c100", "r500"}), "")
	if err != nil {
		t.Fatal(err)
	}
	all["experiment"] = chart.Experiment(p)
	all["screening"] = slices.DeleteFunc(chart.Experiment(screenedPage(t)), func(v chart.View) bool {
		return !strings.HasPrefix(v.Name, "half-normal")
	})
	return all
}

// screenedPage is what the page of a screening is drawn from.
func screenedPage(t *testing.T) *page.ExperimentPayload {
	t.Helper()
	p, err := page.OfExperiment(page.ScreenedFolder(t), "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every view is drawn in both forms, light and dark: an SVG that is well formed, has its title and
// no markup of others, and a PNG that can be read. The SVG of some are goldens.
func TestPictures(t *testing.T) {
	kept := map[string][]string{"closed": {"heat", "spectrum"}, "failing": {"status", "routes"},
		"open": {"throughput"}, "experiment": {"decide", "cost-1"}, "screening": {"half-normal-1"}}
	for name, views := range pictured(t) {
		for i, v := range views {
			if v.Empty != "" {
				if err := chart.Write(io.Discard, v, chart.Options{Form: chart.SVG, Width: 800}); err == nil {
					t.Errorf("%s %s is empty, and was drawn", name, v.Name)
				}
				continue
			}
			var svg bytes.Buffer
			if err := chart.Write(&svg, v, chart.Options{Form: chart.SVG, Width: 800, Dark: i%2 == 1}); err != nil {
				t.Fatal(name, v.Name, err)
			}
			checkSVG(t, name+" "+v.Name, svg.Bytes(), v)
			if slices.Contains(kept[name], v.Name) {
				reporttest.Golden(t, name+"."+v.Name+".svg", svg.Bytes(), *update)
			}
		}
		writePNG(t, name, views[0])
	}
}

// writePNG draws one view as PNG. Its pixels are not a golden: rounding differs between processors.
func writePNG(t *testing.T, name string, v chart.View) {
	t.Helper()
	if v.Empty != "" {
		return
	}
	var picture bytes.Buffer
	if err := chart.Write(&picture, v, chart.Options{Form: chart.PNG, Width: 400}); err != nil {
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
			if !slices.Contains([]string{"svg", "g", "title", "path", "text"}, e.Name.Local) {
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
	views := chart.Run(page.OfRun(r))
	checked := 0
	for _, m := range find(t, views, "heat").Marks {
		key := map[string]string{"p50": "p50_us", "p99": "p99_us", "max": "max_us"}[m.Name]
		for i, p := range m.Points {
			if key == "" || math.IsNaN(p.Y) {
				continue
			}
			if want := at(data, "result", "series", i/2, key); !near(p.Y, want) {
				t.Fatalf("%s: %v is %v, in the page %v", m.Name, p.X, p.Y, want)
			}
			checked++
		}
	}
	for _, m := range find(t, views, "throughput").Marks {
		for i, p := range m.Points {
			point := at(data, "result", "series", i/2)
			from := 0.0
			if i/2 > 0 {
				from = at(data, "result", "series", i/2-1, "t_s").(float64)
			}
			want := at(point, m.Name).(float64) / (at(point, "t_s").(float64) - from)
			if !near(p.Y, want) {
				t.Fatalf("%s: %v is %v, in the page %v", m.Name, p.X, p.Y, want)
			}
			checked++
		}
	}
	spectrum := find(t, views, "spectrum").Marks
	for k, s := range at(data, "spectra").([]any)[:len(spectrum)] {
		for i, p := range spectrum[k].Points {
			if !near(p.Y, at(s, "points", i, 1)) || !near(1-1/p.X+1e-12, at(s, "points", i, 0)) && i > 0 {
				t.Fatalf("spectrum %d: %v, in the page %v", k, p, at(s, "points", i))
			}
			checked++
		}
	}
	if checked < 400 {
		t.Errorf("only %d figures were compared", checked)
	}
}

// A picture of an experiment has the ratios, intervals and verdicts of its page.
func TestPicturesAgreeWithThePageOfAnExperiment(t *testing.T) {
	dir := page.ExperimentFolder(t, 6, 3)
	data := dataOf(t, func(w io.Writer) error { return page.Experiment(w, dir, "") })
	p, err := page.OfExperiment(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for i, v := range chart.Experiment(p)[:len(p.Answer.Groups)] {
		findings := at(data, "answer", "groups", i, "findings").([]any)
		var ratios []float64
		for _, m := range v.Marks {
			if m.Name == "ratio" {
				ratios = append(ratios, m.Points[0].X)
			}
		}
		for k, f := range findings {
			c := at(data, "record", "verdicts", int(at(f, "comparison").(float64)))
			says := fmt.Sprintf("%v %v %v", orEmpty(at(f, "effect")), orEmpty(at(f, "interval")), at(f, "verdict"))
			if row := v.Rows[k]; !near(ratios[k], at(c, "ratio")) || strings.Fields(row.Says)[0] != strings.Fields(says)[0] ||
				!strings.HasSuffix(row.Says, at(f, "verdict").(string)) {
				t.Errorf("%s: %v %q, in the page %v %q", v.Name, ratios[k], row.Says, at(c, "ratio"), says)
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

// The colours of pictures are those of the style sheet.
func TestColoursOfPictures(t *testing.T) {
	css, err := os.ReadFile("web/src/style.css")
	if err != nil {
		t.Fatal(err)
	}
	sheet := map[string][2]string{}
	for _, m := range regexp.MustCompile(`--(\w+): light-dark\(#(\w+), #(\w+)\)`).FindAllStringSubmatch(string(css), -1) {
		sheet[m[1]] = [2]string{m[2], m[3]}
	}
	colours := chart.Colours()
	for _, name := range slices.Sorted(maps.Keys(colours)) {
		if colours[name] != sheet[name] {
			t.Errorf("%s is %v, in the style sheet %v", name, colours[name], sheet[name])
		}
	}
	if len(colours) < 20 {
		t.Errorf("%d colours", len(colours))
	}
}

// A name that is no view is answered with the names that there are.
func TestViewNames(t *testing.T) {
	views := chart.Run(page.OfRun(page.Results(t)["closed"]))
	if _, err := chart.Find(views, "spektrum"); err == nil || !strings.Contains(err.Error(), "spectrum") {
		t.Error(err)
	}
}
