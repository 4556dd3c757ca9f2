package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dyno/internal/dynohome"
	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/result/plansecrets"
	"dyno/internal/stats"
)

// Errors is the value of an Entry, in percent, that is the share of its requests that failed;
// absent: none did. It is no measure of trials.
const Errors = "errors"

// ratesEnded is a value of results whose rates are result.RatesEnded; absent: an older dyno
// measured them. It is no measure of trials.
const ratesEnded = "rates_ended"

const insertMeasure = "INSERT INTO measures VALUES (?, ?, ?, ?)"

// resultRows are what a result puts into the index.
func resultRows(file, id string, content []byte) ([]statement, error) {
	r, err := result.Decode(content)
	if err != nil {
		return nil, err
	}
	// Earlier versions kept secrets; and marks of one key make the same of both.
	r.Plan = plansecrets.Redacted(r.Plan, dynohome.Marks(filepath.Dir(filepath.Dir(file))))
	host, err := json.Marshal(r.Host)
	if err != nil {
		return nil, err
	}
	size := int64(len(content))
	for _, p := range profileFiles(filepath.Dir(file), id) {
		size += sizeOf(p)
	}
	asked, err := json.Marshal(askedPart(r.Plan))
	if err != nil {
		return nil, err
	}
	plan := PlanOf(r.Plan)
	all := []statement{{"INSERT INTO sizes VALUES (?, ?)", []any{id, size}},
		{"INSERT OR IGNORE INTO asked VALUES (?, ?)", []any{plan, string(asked)}}}
	if d := r.Plan.Data; d != nil {
		all = append(all, statement{"INSERT INTO data VALUES (?, ?, ?)", []any{id, d.SHA256, d.Bytes}})
	}
	all = append(all, statement{"INSERT INTO results VALUES " +
		"(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", []any{id,
		r.Window.Started.UnixNano(), r.Plan.Target.URL, r.Model, r.Plan.Connections, r.Offered(),
		r.RunVerdict(), r.OwnVerdict(), plan, GeneratorsOf(r), string(host), r.Dyno}})
	if r.Fleet != nil {
		var names []string
		for _, a := range r.Fleet.Agents {
			names = append(names, a.Name)
		}
		all = append(all, statement{"INSERT INTO fleets VALUES (?, ?)",
			[]any{id, strings.Join(names, ", ")}})
	}
	if why := r.Partial(); why != "" {
		all = append(all, statement{"INSERT INTO partials VALUES (?, ?)", []any{id, why}})
	}
	if q := r.Requests; q.Errors > 0 {
		all = append(all, statement{insertMeasure, []any{id, Errors,
			100 * float64(q.Errors) / float64(q.Sent), false}})
	}
	if r.Window.Rates == result.RatesEnded {
		all = append(all, statement{insertMeasure, []any{id, ratesEnded, 1, false}})
	}
	trial := &lab.Trial{Result: r}
	for _, m := range lab.Measures {
		if v, ok := m.Value(trial); ok {
			all = append(all, statement{insertMeasure, []any{id, m.Name, v,
				m.IsOver(trial)}})
		}
	}
	return all, nil
}

func sizeOf(path string) int64 {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}

// folderSize is how many bytes the files below a folder have.
func folderSize(dir string) (size int64, err error) {
	return size, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return nil
		}
		if err == nil && e.Type().IsRegular() {
			size += sizeOf(path)
		}
		return err
	})
}

// noteRows are what a note does. Its tags are the words that begin with #.
func noteRows(_, id string, content []byte) ([]statement, error) {
	if !utf8.Valid(content) {
		return nil, errors.New("not a note: it is not UTF-8 text")
	}
	text := strings.TrimSpace(string(content))
	all := []statement{{"INSERT INTO notes VALUES (?, ?)", []any{id, text}}}
	for _, tag := range Tags(text) {
		all = append(all, statement{"INSERT INTO tags VALUES (?, ?)", []any{tag, id}})
	}
	return all, nil
}

// Tags are the words of a note that begin with #, without it and what punctuates them,
// in small letters, sorted.
func Tags(note string) (all []string) {
	for word := range strings.FieldsSeq(note) {
		tag, is := strings.CutPrefix(word, "#")
		if tag = strings.TrimFunc(tag, unicode.IsPunct); is && tag != "" {
			all = append(all, strings.ToLower(tag))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// experimentRows are what an experiment's record does. Only what the list needs is read
// of it.
func experimentRows(file, id string, content []byte) ([]statement, error) {
	var r lab.Record
	if err := json.Unmarshal(content, &r); err != nil {
		return nil, fmt.Errorf("not an experiment's record: %w", err)
	}
	if r.Format != lab.ExperimentFormat {
		return nil, fmt.Errorf("its format is %q, not %q; another version of dyno wrote it", r.Format,
			lab.ExperimentFormat)
	}
	compared, different := 0, 0
	for _, c := range r.Verdicts {
		if c.Control {
			continue
		}
		if compared++; c.Verdict == stats.Different {
			different++
		}
	}
	gate := ""
	if r.Gate != nil {
		gate = r.Gate.Verdict
	}
	size, err := folderSize(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	return []statement{{"INSERT INTO folders VALUES (?, ?)", []any{id, size}},
		{"INSERT INTO experiments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", []any{id,
			r.Name, r.Started.UnixNano(), r.State, r.Quick, len(r.Trials), different, compared, gate,
			MachineOf(r.Host), r.Dyno}}}, nil
}

// changeRows are what a published change point does.
func changeRows(_, id string, content []byte) ([]statement, error) {
	c, err := decodeChange(content)
	if err != nil {
		return nil, err
	}
	if c.ID != id {
		return nil, fmt.Errorf("it says that it is %q", c.ID)
	}
	return []statement{{"INSERT INTO changes VALUES (?, ?, ?)", []any{id, c.Metric, string(content)}}},
		nil
}
