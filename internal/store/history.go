package store

import (
	"cmp"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/lab"
	"dyno/internal/result"
)

// A Query selects a part of the history.
type Query struct {
	URL     string // a pattern of whole URLs: * is anything, ? a character; "": all, and experiments
	Machine string // its fingerprint (MachineOf), and fleets; "" is every machine
	Limit   int    // results listed, the newest; 0: all. Series are whole
	Metric  lab.Measure
}

// A History is the selected part of what is stored.
type History struct {
	Entries     []Entry // newest first
	Older       int     // results that the limit left out
	Elsewhere   int     // that were measured on other machines
	Series      []Series
	Experiments []Experiment // newest first
	Unreadable  []Unreadable
	Size        Size  // of everything stored, whatever the Query
	Unkept      error // why new change points could not be stored
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
	Partial     string      // why it covers less than planned, and is in no Runs; "" if complete
	Dyno        string
	Values      map[string]float64 // by measure, and Errors; a History has the list's
	Note        string
	Size        int64 // bytes of its files, without data
	Data        int64 // bytes of the requests that it refers to; 0: it contains them
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
	Size      int64 // bytes of its folder
}

// An Unreadable is a stored file that cannot be read, with the reason.
type Unreadable struct{ Path, Problem string }

// History returns what the index has. Its series are those of the listed results' configurations,
// in the order of the results, if they have a value.
func (s *Store) History(q Query) (h History, err error) {
	all, err := s.selectEntries(q.URL, "throughput", "p99", Errors, q.Metric.Name)
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
	if err = s.nameUniquely(h.Series); err != nil {
		return h, err
	}
	if err = s.tellApart(h.Series); err != nil {
		return h, err
	}
	if h.Size, err = s.totalSize(); err != nil {
		return h, err
	}
	if h.Unkept, err = s.publishChanges(h.Series); err != nil {
		return h, err
	}
	if n := len(h.Entries); q.Limit > 0 && n > q.Limit {
		h.Entries, h.Older = h.Entries[:q.Limit], n-q.Limit
	}
	if q.URL == "" {
		if h.Experiments, err = s.selectExperiments(q.Machine); err != nil {
			return h, err
		}
	}
	h.Unreadable, err = s.unreadableFiles()
	return h, err
}

// Entries are all results in the index, newest first.
func (s *Store) Entries() ([]Entry, error) {
	all := []string{Errors}
	for _, m := range lab.Measures {
		all = append(all, m.Name)
	}
	return s.selectEntries("", all...)
}

// selectEntries are the entries of URLs that match, with the values of measures. All values
// together would be most of the index.
func (s *Store) selectEntries(url string, measures ...string) (all []Entry, err error) {
	url = strings.ReplaceAll(url, "[", "[[]") // of an IPv6 address, not a set of characters
	at := map[string]int{}
	hostText, hostOf := "", result.Host{}
	err = s.eachRow(`SELECT id, started, url, model, connections, ifnull(offered, 0), verdict, plan,
		machine, host, ifnull(agents, ''), ifnull(why, ''), dyno, ifnull(text, ''),
		ifnull(sizes.bytes, 0), ifnull(data.bytes, 0) FROM results
		LEFT JOIN sizes ON sizes.result = id LEFT JOIN data ON data.result = id
		LEFT JOIN fleets ON fleets.result = id LEFT JOIN partials ON partials.result = id
		LEFT JOIN notes ON notes.result = id
		WHERE ? = '' OR url GLOB ? ORDER BY started DESC, id DESC`, []any{url, url},
		func(rows *sql.Rows) error {
			e := Entry{Values: map[string]float64{}}
			var started int64
			var host string
			err := rows.Scan(&e.ID, &started, &e.URL, &e.Model, &e.Connections, &e.Offered, &e.Verdict,
				&e.Plan, &e.Machine, &host, &e.Fleet, &e.Partial, &e.Dyno, &e.Note,
				&e.Size, &e.Data)
			e.Started, e.Path = time.Unix(0, started).UTC(), s.pathOf("results", e.ID+".json")
			if host != hostText { // most have the same machine as the one before
				hostText, hostOf = host, result.Host{}
				err = cmp.Or(err, json.Unmarshal([]byte(host), &hostOf))
			}
			e.Host = hostOf
			at[e.ID] = len(all)
			all = append(all, e)
			return err
		})
	if err != nil {
		return nil, err
	}
	names, err := json.Marshal(measures)
	if err != nil {
		return nil, err
	}
	return all, s.eachRow(`SELECT result, name, value FROM measures
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

func (s *Store) selectExperiments(machine string) (all []Experiment, err error) {
	return all, s.eachRow(`SELECT id, name, started, state, quick, trials, different, compared, gate,
		machine, dyno, ifnull(bytes, 0) FROM experiments LEFT JOIN folders ON experiment = id
		WHERE ? = '' OR machine = ? ORDER BY started DESC, id DESC`,
		[]any{machine, machine}, func(rows *sql.Rows) error {
			var e Experiment
			var started int64
			err := rows.Scan(&e.ID, &e.Name, &started, &e.State, &e.Quick, &e.Trials, &e.Different,
				&e.Compared, &e.Gate, &e.Machine, &e.Dyno, &e.Size)
			e.Started, e.Dir = time.Unix(0, started).UTC(), s.pathOf("experiments", e.ID)
			all = append(all, e)
			return err
		})
}

func (s *Store) unreadableFiles() (all []Unreadable, err error) {
	return all, s.eachRow("SELECT path, problem FROM files WHERE problem <> '' ORDER BY path", nil,
		func(rows *sql.Rows) error {
			var u Unreadable
			err := rows.Scan(&u.Path, &u.Problem)
			u.Path = s.pathOf(u.Path)
			all = append(all, u)
			return err
		})
}

// pathOf is the path of a file of the store.
func (s *Store) pathOf(parts ...string) string {
	return filepath.Join(append([]string{s.home}, parts...)...)
}

// eachRow calls take with every row of a query.
func (s *Store) eachRow(query string, args []any, take func(*sql.Rows) error) error {
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

// A Series is the results of one configuration on one machine, for one measure.
type Series struct {
	Name    string // of four letters, or more where others of the store begin alike
	Plan    string
	Machine string
	Newest  Entry
	Metric  lab.Measure
	Runs    []Run    // oldest first, of whole runs that have a value
	Changes []Change // oldest first

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
}

// seriesOf divides entries, newest first, into series. The first series has the newest result.
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

// A Size is the size of a store, in bytes.
type Size struct {
	Results     int64 // with their profiles
	Data        int64 // the files of requests that they share, or shared
	Experiments int64
}

func (s *Store) totalSize() (all Size, err error) {
	err = s.eachRow(`SELECT (SELECT ifnull(sum(bytes), 0) FROM sizes),
		(SELECT ifnull(sum(bytes), 0) FROM folders)`, nil, func(rows *sql.Rows) error {
		return rows.Scan(&all.Results, &all.Experiments)
	})
	if err != nil {
		return all, err
	}
	if all.Data, err = folderSize(dynohome.DataFolder(s.home)); err != nil {
		err = fmt.Errorf("measuring the requests that results share: %w", err)
	}
	return all, err
}
