package payload

import (
	"dyno/internal/capacity"
	"dyno/internal/objective"
	"dyno/internal/view/report"
)

// A Capacity is the payload of a page of a search or a sweep, whichever is there.
type Capacity struct {
	Kind   string               `json:"kind"`
	Words  report.Sentences     `json:"words"`
	Search *capacity.Search     `json:"search,omitempty"`
	Limits []limit              `json:"limits,omitempty"` // of the search's objectives, in their order
	Curve  *capacity.Curve      `json:"curve,omitempty"`
	Band   []capacity.BandPoint `json:"band,omitempty"` // the curve's law
	Unit   string               `json:"unit"`           // of levels
}

// A limit is what an objective compares with.
type limit struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"` // as result.Outcome has it
}

// OfSearch is what a search for a rate found.
func OfSearch(s *capacity.Search) Capacity {
	p := Capacity{Kind: "capacity", Words: report.SearchSentences(s), Search: s,
		Unit: s.Unit()}
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

// OfCurve is what a sweep found.
func OfCurve(c *capacity.Curve) Capacity {
	return Capacity{Kind: "capacity", Words: report.CurveSentences(c), Curve: c, Band: c.Band(),
		Unit: c.Counts() + "/s"}
}
