package store

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dyno/lab"
	"dyno/load"
	"dyno/result"
)

// A Query is what of the history is asked for.
type Query struct {
	URL     string // a pattern of whole URLs: * is anything, ? a character; "": all, and experiments
	Machine string // its fingerprint (MachineOf), and fleets; "" is every machine
	Limit   int    // results listed, the newest; 0: all. Series are whole
	Metric  lab.Measure
}

// A History is what has been stored.
type History struct {
	Entries     []Entry // newest first
	Older       int     // results that the limit left out
	Elsewhere   int     // that were measured on other machines than the one asked for
	Series      []Series
	Experiments []Experiment // newest first
	Unreadable  []Unreadable
	Unkept      error // why change points that were found are not kept
}

// An Entry is a result in the index.
type Entry struct {
	ID          string
	Path        string
	Started     time.Time
	URL         string
	Model       string
	Connections int
	Offered     float64 // requests a second, of an open loop
	Verdict     string
	Plan        string // fingerprints
	Machine     string
	Host        result.Host // of a fleet, its first agent's
	Fleet       string      // names of the agents that made the load; "": Host did
	Partial     string      // why it is of less than was planned, and so in no Runs; "" if whole
	Dyno        string
	Values      map[string]float64 // by measure, and Errors; a History has the list's
	Note        string
}

// An Experiment is one in the index.
type Experiment struct {
	ID        string // name of its folder
	Dir       string
	Name      string
	Started   time.Time
	State     lab.State
	Quick     bool
	Trials    int
	Different int // of the Compared
	Compared  int
	Gate      string // "" without one
	Machine   string
	Dyno      string
}

// An Unreadable file is stored, and nothing is known of it but why.
type Unreadable struct{ Path, Problem string }

// History is what the index has. Series with a value are all those of the listed
// results' configurations, in the order of the results.
func (s *Store) History(q Query) (h History, err error) {
	all, err := s.entries(q.URL, "throughput", "p99", Errors, q.Metric.Name)
	if err != nil {
		return h, err
	}
	for _, e := range all {
		if q.Machine != "" && e.Machine != q.Machine && e.Fleet == "" {
			h.Elsewhere++
			continue
		}
		h.Entries = append(h.Entries, e)
	}
	h.Series = seriesOf(h.Entries, q.Metric)
	tellApart(h.Series)
	if h.Unkept, err = s.addChanges(h.Series); err != nil {
		return h, err
	}
	if n := len(h.Entries); q.Limit > 0 && n > q.Limit {
		h.Entries, h.Older = h.Entries[:q.Limit], n-q.Limit
	}
	if q.URL == "" {
		if h.Experiments, err = s.experiments(q.Machine); err != nil {
			return h, err
		}
	}
	h.Unreadable, err = s.unreadable()
	return h, err
}

// Entries are all results in the index, newest first.
func (s *Store) Entries() ([]Entry, error) {
	all := []string{Errors}
	for _, m := range lab.Measures {
		all = append(all, m.Name)
	}
	return s.entries("", all...)
}

// entries are those of URLs, with the values of measures: of all, they are most of the
// index.
func (s *Store) entries(url string, measures ...string) (all []Entry, err error) {
	url = strings.ReplaceAll(url, "[", "[[]") // of an IPv6 address, and no set of characters
	at := map[string]int{}
	err = s.each(`SELECT id, started, url, model, connections, ifnull(offered, 0), verdict, plan,
		machine, host, ifnull(agents, ''), ifnull(why, ''), dyno, ifnull(text, '') FROM results
		LEFT JOIN fleets ON fleets.result = id LEFT JOIN partials ON partials.result = id
		LEFT JOIN notes ON notes.result = id
		WHERE ? = '' OR url GLOB ? ORDER BY started DESC, id DESC`, []any{url, url},
		func(rows *sql.Rows) error {
			e := Entry{Values: map[string]float64{}}
			var started int64
			var host string
			err := rows.Scan(&e.ID, &started, &e.URL, &e.Model, &e.Connections, &e.Offered, &e.Verdict,
				&e.Plan, &e.Machine, &host, &e.Fleet, &e.Partial, &e.Dyno, &e.Note)
			if err != nil {
				return err
			}
			e.Started, e.Path = time.Unix(0, started).UTC(), s.file("results", e.ID+".json")
			at[e.ID] = len(all)
			all = append(all, e)
			return json.Unmarshal([]byte(host), &all[len(all)-1].Host)
		})
	if err != nil {
		return nil, err
	}
	names, err := json.Marshal(measures)
	if err != nil {
		return nil, err
	}
	return all, s.each(`SELECT result, name, value FROM measures
		WHERE name IN (SELECT value FROM json_each(?))`, []any{string(names)},
		func(rows *sql.Rows) error {
			var id, name string
			var value float64
			err := rows.Scan(&id, &name, &value)
			if i, listed := at[id]; listed {
				all[i].Values[name] = value
			}
			return err
		})
}

func (s *Store) experiments(machine string) (all []Experiment, err error) {
	return all, s.each(`SELECT id, name, started, state, quick, trials, different, compared, gate,
		machine, dyno FROM experiments WHERE ? = '' OR machine = ? ORDER BY started DESC, id DESC`,
		[]any{machine, machine}, func(rows *sql.Rows) error {
			var e Experiment
			var started int64
			err := rows.Scan(&e.ID, &e.Name, &started, &e.State, &e.Quick, &e.Trials, &e.Different,
				&e.Compared, &e.Gate, &e.Machine, &e.Dyno)
			e.Started, e.Dir = time.Unix(0, started).UTC(), s.file("experiments", e.ID)
			all = append(all, e)
			return err
		})
}

func (s *Store) unreadable() (all []Unreadable, err error) {
	return all, s.each("SELECT path, problem FROM files WHERE problem <> '' ORDER BY path", nil,
		func(rows *sql.Rows) error {
			var u Unreadable
			err := rows.Scan(&u.Path, &u.Problem)
			u.Path = s.file(u.Path)
			all = append(all, u)
			return err
		})
}

// file is the path of a file of the store.
func (s *Store) file(parts ...string) string {
	return filepath.Join(append([]string{s.home}, parts...)...)
}

// each hands every row of a query to take.
func (s *Store) each(query string, args []any, take func(*sql.Rows) error) error {
	rows, err := s.db.Query(query, args...)
	if err != nil {
		return fmt.Errorf("asking the index: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := take(rows); err != nil {
			return fmt.Errorf("asking the index: %w", err)
		}
	}
	return rows.Err()
}

// A Series is the results of one configuration on one machine, by one measure.
type Series struct {
	Plan    string
	Machine string
	Newest  Entry
	Metric  lab.Measure
	Runs    []Run    // oldest first, of whole runs that have a value
	Changes []Change // oldest first

	// Where others have its URL, load and machine: what Newest asked for, and what theirs did.
	Asked  *load.Plan
	Others []*load.Plan
}

// A Run is a result in a series.
type Run struct {
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	Value   float64   `json:"value"`
}

// seriesOf sorts entries, newest first, into series, of which the first has the newest
// result.
func seriesOf(entries []Entry, m lab.Measure) (all []Series) {
	at := map[string]int{}
	for _, e := range entries {
		key := e.Plan + e.Machine
		i, known := at[key]
		if !known {
			i = len(all)
			at[key] = i
			all = append(all, Series{Plan: e.Plan, Machine: e.Machine, Newest: e, Metric: m})
		}
		if v, has := e.Values[m.Name]; has && e.Partial == "" {
			all[i].Runs = append(all[i].Runs, Run{e.ID, e.Started, v})
		}
	}
	for _, s := range all {
		slices.SortFunc(s.Runs, func(a, b Run) int {
			return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.ID, b.ID))
		})
	}
	return all
}

// alikeMost is of how many series of one URL, load and machine the plans are read.
const alikeMost = 64

// tellApart gives series that seem to be the same what they asked for, by which they differ.
// Where that cannot be read any more there is none.
func tellApart(all []Series) {
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
		plans := map[int]*load.Plan{}
		for _, i := range group {
			if p, err := readPlan(all[i].Newest.Path); err == nil {
				plans[i] = p
			}
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
}

// readPlan reads the plan of a result's file, and no more of it.
func readPlan(path string) (*load.Plan, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r struct{ Plan load.Plan }
	return &r.Plan, json.Unmarshal(b, &r)
}
