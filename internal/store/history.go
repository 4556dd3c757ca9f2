package store

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dyno/internal/dynohome"
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
	Verdict     string  // on the run, in a word
	Generator   string  // the word of its self-check
	Plan        string  // fingerprints
	Machine     string
	Host        result.Host // of a fleet, its first agent's
	Fleet       string      // names of the agents that made the load; "": Host did
	Partial     string      // why it covers less than planned, and is in no Runs; "" if complete
	Dyno        string
	Values      map[string]float64 // by measure, and Errors; a History has the list's
	Over        []string           // measures whose value is only known to be higher
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

// History returns what the index has. Its series are those of the selected results' configurations,
// in the order of the results, if they have a value.
func (s *Store) History(q Query) (h History, err error) {
	all, err := s.selectBriefs(q.URL, q.Metric.Name)
	if err != nil {
		return h, err
	}
	here := all[:0]
	for _, e := range all {
		if q.Machine != "" && e.machine != q.Machine && e.fleet == "" {
			h.Elsewhere++
			continue
		}
		here = append(here, e)
	}
	listed := here
	if n := len(here); q.Limit > 0 && n > q.Limit {
		listed, h.Older = here[:q.Limit], n-q.Limit
	}
	h.Series = seriesOf(here, q.Metric)
	if err = s.describe(&h, listed); err != nil {
		return h, err
	}
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
	if q.URL == "" {
		if h.Experiments, err = s.selectExperiments(q.Machine); err != nil {
			return h, err
		}
	}
	h.Unreadable, err = s.unreadableFiles()
	return h, err
}

// A brief is what series need of a result. A list reads that of all, and more only of those that it
// shows.
type brief struct {
	id, plan, machine string
	fleet, partial    string
	started           int64
	value             float64
	over              bool // it is only known to be higher
	known             bool // the value
	ended             bool // its rates are result.RatesEnded
}

// selectBriefs are the results of URLs that match, newest first, with the values of a measure.
func (s *Store) selectBriefs(url, measure string) (all []brief, err error) {
	url = globOf(url)
	return all, s.eachRow(`SELECT id, started, plan, machine, ifnull(agents, ''), ifnull(why, ''),
		of.value, of.higher, rates.value FROM results
		LEFT JOIN measures of ON of.result = id AND of.name = ?
		LEFT JOIN measures rates ON rates.result = id AND rates.name = ?
		LEFT JOIN fleets ON fleets.result = id LEFT JOIN partials ON partials.result = id
		WHERE ? = '' OR url GLOB ? ORDER BY started DESC, id DESC`, []any{measure, ratesEnded, url, url},
		func(rows *sql.Rows) error {
			var b brief
			var value, rates sql.NullFloat64
			var over sql.NullBool
			err := rows.Scan(&b.id, &b.started, &b.plan, &b.machine, &b.fleet, &b.partial, &value, &over,
				&rates)
			b.value, b.known, b.over, b.ended = value.Float64, value.Valid, over.Bool, rates.Valid
			all = append(all, b)
			return err
		})
}

// globOf is a pattern of URLs as SQLite reads it: [ of an IPv6 address begins no set of characters.
func globOf(url string) string { return strings.ReplaceAll(url, "[", "[[]") }

// describe adds what the index has of the listed results, and of each series' newest.
func (s *Store) describe(h *History, listed []brief) error {
	var ids []string
	for _, b := range listed {
		ids = append(ids, b.id)
	}
	for _, t := range h.Series {
		ids = append(ids, t.Newest.ID)
	}
	text, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	measures := []string{"throughput", "p99", Errors}
	for _, l := range ListedOfStreams {
		measures = append(measures, l.Measure)
	}
	if n := len(h.Series); n > 0 && !slices.Contains(measures, h.Series[0].Metric.Name) {
		measures = append(measures, h.Series[0].Metric.Name)
	}
	all, err := s.selectEntries("WHERE id IN (SELECT value FROM json_each(?))", string(text), measures)
	if err != nil {
		return err
	}
	of := map[string]Entry{}
	for _, e := range all {
		of[e.ID] = e
	}
	for _, b := range listed {
		if e, there := of[b.id]; there { // another process may have removed it meanwhile
			h.Entries = append(h.Entries, e)
		}
	}
	h.Series = slices.DeleteFunc(h.Series, func(t Series) bool { return of[t.Newest.ID].ID == "" })
	for i := range h.Series {
		h.Series[i].Newest = of[h.Series[i].Newest.ID]
	}
	return nil
}

// ListedOfStreams are the measures that a list of results has of streams, besides rate and latency,
// with the heads of their columns.
var ListedOfStreams = []struct{ Head, Measure string }{{"first event p50", "first_event_p50"},
	{"first event p99", "first_event_p99"}, {"events/s", "events"}}

// A Figure is a result's value of a measure, under the head of its column.
type Figure struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value,omitempty"` // 0: there is none
	Over  bool    `json:"over,omitempty"`  // it is only known to be higher
}

// Figure is the result's value of the measure of that name.
func (e Entry) Figure(head, measure string) Figure {
	m, _ := lab.MeasureNamed(measure)
	return Figure{head, m.Unit, e.Values[measure], slices.Contains(e.Over, measure)}
}

// StreamFigures are the figures of ListedOfStreams.
func (e Entry) StreamFigures() (all []Figure) {
	for _, l := range ListedOfStreams {
		all = append(all, e.Figure(l.Head, l.Measure))
	}
	return all
}

// Entries are all results in the index, newest first.
func (s *Store) Entries() ([]Entry, error) {
	all := []string{Errors}
	for _, m := range lab.Measures {
		all = append(all, m.Name)
	}
	return s.selectEntries("", "", all)
}

// selectEntries are the results that a condition on an argument selects, newest first, with the
// values of measures. All values together would be most of the index.
func (s *Store) selectEntries(where, arg string, measures []string) (all []Entry, err error) {
	at := map[string]int{}
	hostText, hostOf := "", result.Host{}
	args := []any{arg}
	if where == "" {
		args = nil
	}
	err = s.eachRow(`SELECT id, started, url, model, connections, ifnull(offered, 0), run_verdict,
		generator, plan, machine, host, ifnull(agents, ''), ifnull(why, ''), dyno, ifnull(text, ''),
		ifnull(sizes.bytes, 0), ifnull(data.bytes, 0) FROM results
		LEFT JOIN sizes ON sizes.result = id LEFT JOIN data ON data.result = id
		LEFT JOIN fleets ON fleets.result = id LEFT JOIN partials ON partials.result = id
		LEFT JOIN notes ON notes.result = id
		`+where+" ORDER BY started DESC, id DESC", args,
		func(rows *sql.Rows) error {
			e := Entry{Values: map[string]float64{}}
			var started int64
			var host string
			err := rows.Scan(&e.ID, &started, &e.URL, &e.Model, &e.Connections, &e.Offered, &e.Verdict,
				&e.Generator, &e.Plan, &e.Machine, &host, &e.Fleet, &e.Partial, &e.Dyno, &e.Note,
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
	if where != "" {
		where = "AND result IN (SELECT id FROM results " + where + ")"
	}
	return all, s.eachRow(`SELECT result, name, value, higher FROM measures
		WHERE name IN (SELECT value FROM json_each(?)) `+where, append([]any{string(names)}, args...),
		func(rows *sql.Rows) error {
			var id, name string
			var value float64
			var over bool
			err := rows.Scan(&id, &name, &value, &over)
			if i, listed := at[id]; listed {
				if all[i].Values[name] = value; over {
					all[i].Over = append(all[i].Over, name)
				}
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
