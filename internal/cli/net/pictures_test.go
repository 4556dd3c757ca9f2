package net

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"testing"

	"dyno/internal/capacity"
	"dyno/internal/dynohome"
	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/view/chart"
	"dyno/internal/view/drawing"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/labreport"
	"dyno/internal/view/payload"
	"dyno/internal/view/report"
)

// A picture is what the page of an input is drawn from, and its charts.
type picture struct {
	payload any
	views   []chart.View
}

func pageOfResult(t *testing.T, path string) picture {
	t.Helper()
	r, err := dynohome.Open("", path)
	if err != nil {
		t.Fatal(err)
	}
	p := payload.OfRun(r)
	return picture{p, chart.Run(p)}
}

func pageOfFinding(t *testing.T, path string) picture {
	t.Helper()
	b, err := result.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, c, known, err := capacity.Decode(b)
	if err != nil || !known {
		t.Fatal(known, err)
	}
	var p payload.Capacity
	if s != nil {
		p = payload.OfSearch(s)
	} else {
		p = payload.OfCurve(c)
	}
	return picture{p, chart.Capacity(p)}
}

func pageOfExperiment(t *testing.T, dir string) picture {
	t.Helper()
	p, err := payload.OfExperiment(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return picture{p, chart.Experiment(p)}
}

// parts is the page's data by its keys.
func (p picture) parts(t *testing.T) (all map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(marshal(t, p.payload), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// pictures adds the page's data and the charts. What the page has under one of the keys is what is
// stored; only what differs from that is added.
func (s *sheet) pictures(p picture, file string, keys ...string) {
	all := p.parts(s.t)
	for _, key := range keys {
		if all[key] != nil {
			s.add("page: "+key+", but for what is stored", changed(read(s.t, file), all[key]))
			delete(all, key)
		}
	}
	var summary string
	if text := all["summary"]; text != nil {
		if err := json.Unmarshal(text, &summary); err != nil {
			s.t.Fatal(err)
		}
		s.add("page: summary", summary)
		delete(all, "summary")
	}
	s.add("page", lines(marshal(s.t, all)))
	charts, had := "", map[string]bool{}
	for _, v := range p.views {
		if v.Name == "" {
			continue // only the page has it
		}
		charts += v.Name + ": " + v.Title + "\n"
		if v.Empty != "" {
			charts += "  empty: " + v.Empty + "\n"
			continue
		}
		var svg bytes.Buffer
		if err := drawing.Write(&svg, v, drawing.Options{Form: drawing.SVG, Width: drawing.DefaultWidth}); err != nil {
			s.t.Fatalf("%s: %v", v.Name, err)
		}
		charts += drawn(svg.Bytes(), had)
	}
	s.add("charts", charts)
}

// inOneLine adds what run -q writes in place of the report.
func (s *sheet) inOneLine(path string) {
	r, err := dynohome.Open("", path)
	if err != nil {
		s.t.Fatal(err)
	}
	s.add("run -q", s.written(func(w io.Writer) error { return report.Quiet(w, r) }))
}

// conclusion adds what is written when an experiment ends: report.md, and the report of dyno vs.
func (s *sheet) conclusion(dir string) {
	r, err := judge.Open(dir)
	if err != nil {
		s.t.Fatal(err)
	}
	s.add("report.md", s.written(func(w io.Writer) error { return labreport.ExperimentMarkdown(w, r) }))
	if found, _ := filepath.Glob(filepath.Join(dir, "vs.yaml")); len(found) > 0 {
		a := labanswer.Of(r)
		s.add("vs", s.written(func(w io.Writer) error {
			return labreport.Versus(w, r, a, a.Next, format.Style{})
		}))
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
