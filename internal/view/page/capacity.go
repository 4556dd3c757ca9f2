package page

import (
	"io"

	"dyno/internal/capacity"
	"dyno/internal/objective"
	"dyno/internal/view/report"
)

// A CapacityPayload is the payload of a page of a search or a sweep, whichever is there.
type CapacityPayload struct {
	Kind   string               `json:"kind"`
	Words  report.Sentences     `json:"words"`
	Search *capacity.Search     `json:"search,omitempty"`
	Limits []limit              `json:"limits,omitempty"` // of the search's objectives, in their order
	Curve  *capacity.Curve      `json:"curve,omitempty"`
	Band   []capacity.BandPoint `json:"band,omitempty"` // the curve's law
	Counts string               `json:"counts"`         // what the rate counts: requests or iterations
}

// A limit is what an objective compares with.
type limit struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"` // as result.Outcome has it
}

// Search writes what a search for a rate found as one HTML file.
func Search(w io.Writer, s *capacity.Search) error { return OfSearch(s).writeHTML(w) }

// OfSearch is what Search draws, for those who draw it elsewhere.
func OfSearch(s *capacity.Search) CapacityPayload {
	p := CapacityPayload{Kind: "capacity", Words: report.SearchSentences(s), Search: s,
		Counts: s.Counts()}
	for i, expr := range s.Objectives {
		l := limit{}
		if o, err := objective.Parse(expr); err == nil {
			l.Value = o.Limit()
		}
		for _, probe := range s.Probes {
			if i < len(probe.Judged) && probe.Judged[i].Unit != "" {
				l.Unit = probe.Judged[i].Unit
			}
		}
		p.Limits = append(p.Limits, l)
	}
	return p
}

// Curve writes a sweep as one HTML file.
func Curve(w io.Writer, c *capacity.Curve) error { return OfCurve(c).writeHTML(w) }

// OfCurve is what Curve draws, for those who draw it elsewhere.
func OfCurve(c *capacity.Curve) CapacityPayload {
	return CapacityPayload{Kind: "capacity", Words: report.CurveSentences(c), Curve: c, Band: c.Band(),
		Counts: c.Counts()}
}

func (p CapacityPayload) writeHTML(w io.Writer) error {
	title := "Capacity of " + p.Words.What
	return document{title: title, summary: p.Words.Verdict, payload: p}.writeHTML(w)
}
