package store

import (
	"cmp"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/result/runfacts"
)

// A Series is the results of one configuration on one machine, for one measure.
type Series struct {
	Name    string // of four letters, or more where others of the store begin alike
	Plan    string
	Machine string
	Newest  Entry
	Metric  lab.Measure
	Runs    []Run    // oldest first, of whole runs that have a value
	Changes []Change // oldest first
	Older   int      // of Runs: those whose rates are not result.RatesEnded

	// Plans of Newest, and of other series with the same URL, load and machine; nil if there are
	// none.
	Asked  *loadplan.Plan
	Others []*loadplan.Plan
}

// A Run is a result in a series.
type Run struct {
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	Value   float64   `json:"value"`
	Over    bool      `json:"over,omitempty"` // Value is only known to be higher
}

// seriesOf divides results, newest first, into series. The first series has the newest result. Of
// Newest there is only the ID.
func seriesOf(results []brief, m lab.Measure) (all []Series) {
	at := map[string]int{}
	for _, b := range results {
		key := b.plan + b.machine
		i, known := at[key]
		if !known {
			i = len(all)
			at[key] = i
			all = append(all, Series{Plan: b.plan, Machine: b.machine, Newest: Entry{ID: b.id}, Metric: m})
		}
		if b.known && b.partial == "" {
			all[i].Runs = append(all[i].Runs, Run{b.id, time.Unix(0, b.started).UTC(), b.value,
				b.over})
			if !b.ended {
				all[i].Older++
			}
		}
	}
	for _, s := range all {
		slices.SortFunc(s.Runs, func(a, b Run) int {
			return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.ID, b.ID))
		})
	}
	return all
}

// RatesApart is what must be known of a series of rates, or of what is divided by them, if its runs
// do not count the same answers; else nil.
func (t *Series) RatesApart() *fact.Fact {
	if !t.Metric.CountsAnswers() {
		return nil
	}
	return runfacts.RatesApart(t.Older, len(t.Runs))
}

// nameLeast is the shortest name of a series, in letters: of 100 series, two names are equal in one
// of a hundred stores.
const nameLeast = 4

// nameUniquely names series so that no two of the whole store have the same name.
func (s *Store) nameUniquely(some []Series) error {
	var all []Series
	err := s.eachRow("SELECT DISTINCT plan, machine FROM results", nil, func(rows *sql.Rows) error {
		var t Series
		err := rows.Scan(&t.Plan, &t.Machine)
		all = append(all, t)
		return err
	})
	if err != nil {
		return err
	}
	nameSeries(all, Series.fingerprintLetters)
	names := map[string]string{}
	for _, t := range all {
		names[t.Plan+t.Machine] = t.Name
	}
	for i, t := range some {
		some[i].Name = names[t.Plan+t.Machine]
	}
	return nil
}

// nameSeries names series by the first of their letters, as many as make all names different.
func nameSeries(all []Series, letters func(Series) string) {
	for n, left := nameLeast, all; len(left) > 0; n++ {
		count := map[string]int{}
		for _, s := range all {
			name := letters(s)
			count[name[:min(n, len(name))]]++
		}
		left = nil
		for i := range all {
			if all[i].Name != "" {
				continue
			}
			name := letters(all[i])
			if count[name[:min(n, len(name))]] > 1 && n < len(name) {
				left = append(left, all[i])
			} else {
				all[i].Name = name[:min(n, len(name))]
			}
		}
	}
}

// fingerprintLetters are the letters of a series' name. They depend only on its fingerprints.
func (s Series) fingerprintLetters() string {
	sum := sha256.Sum256([]byte(s.Plan + s.Machine))
	var name [len(sum)]byte
	for i, b := range sum {
		name[i] = 'A' + b%26
	}
	return string(name[:])
}

// alikeMost is for how many series of one URL, load and machine the plans are compared.
const alikeMost = 64

// tellApart sets Asked and Others of series with the same URL, load and machine.
func (s *Store) tellApart(all []Series) error {
	type label struct {
		url, model, machine string
		connections         int
		offered             float64
	}
	groups := map[label][]int{}
	for i, t := range all {
		e := t.Newest
		l := label{e.URL, e.Model, e.Machine, e.Connections, e.Offered}
		groups[l] = append(groups[l], i)
	}
	for _, group := range groups {
		if len(group) < 2 || len(group) > alikeMost {
			continue
		}
		plans := map[int]*loadplan.Plan{}
		for _, i := range group {
			p, err := s.planOf(all[i].Plan)
			if err != nil {
				return err
			}
			plans[i] = p
		}
		for _, i := range group {
			all[i].Asked = plans[i]
			for _, k := range group {
				if k != i && plans[k] != nil {
					all[i].Others = append(all[i].Others, plans[k])
				}
			}
		}
	}
	return nil
}

// planOf is the plan with that fingerprint, as far as the fingerprint covers it.
func (s *Store) planOf(plan string) (p *loadplan.Plan, err error) {
	return p, s.eachRow("SELECT content FROM asked WHERE plan = ?", []any{plan},
		func(rows *sql.Rows) error {
			var content string
			p = new(loadplan.Plan)
			if err := rows.Scan(&content); err != nil {
				return err
			}
			return json.Unmarshal([]byte(content), p)
		})
}
