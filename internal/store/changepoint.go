package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"time"

	"dyno/internal/atomicfile"
	"dyno/internal/engine/loadplan"
	"dyno/internal/lab"
	"dyno/internal/stats"
)

// ChangeFormat is the format of a published change point.
const ChangeFormat = "dyno.change/1"

// A Change is a change point: from some result on, a series has another level. It is published when
// it is first found, with the results it rests on, and never changed afterwards, so what was said
// about a commit stays. Later results can only add further changes.
type Change struct {
	Format    string    `json:"format"`
	ID        string    `json:"id"`        // of the first result after it, and the measure
	Dyno      string    `json:"dyno"`      // version that found it
	Published time.Time `json:"published"` // zero: it could not be stored
	Metric    string    `json:"metric"`
	Unit      string    `json:"unit"`
	Verdict   string    `json:"verdict"` // Worse or Better
	Ratio     float64   `json:"ratio"`   // of what is after it to what was before
	Low       float64   `json:"low"`     // of its 95 % interval
	High      float64   `json:"high"`
	P         float64   `json:"p"`      // that there is no difference (Mann-Whitney)
	Margin    float64   `json:"margin"` // that a difference has to reach to matter
	Before    []Run     `json:"before"` // oldest first
	After     []Run     `json:"after"`
	Bound     lab.Bound `json:"bound,omitempty"` // of the ratio: runs had requests without an answer
}

// The verdicts of a change.
const (
	Worse  = "worse"
	Better = "better"
)

const (
	// changeLeast is the fewest results on each side of a change: of three, one may be an accident and
	// another its consequence.
	changeLeast = 4
	// changeAlpha is low because a series is looked at again with every result that is
	// added, and what was published once stays: over 60 looks, 3 % of series that never
	// change have one published (of 200 simulated). Of changes by 10 % among results that
	// vary by 3 %, 58 % are found in the fourth result after them, 98 % in the eighth.
	changeAlpha = 0.002
	// changeMargin is the least ratio that is published, as everywhere.
	changeMargin = 0.02
	// changeLongest is how many results without a change are looked at, the newest: time
	// grows with their square.
	changeLongest = 250
)

func decodeChange(b []byte) (Change, error) {
	var c Change
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("not a change point: %w", err)
	}
	if c.Format != ChangeFormat {
		return c, fmt.Errorf("not a change point that this dyno reads: its format is %q, not %q",
			c.Format, ChangeFormat)
	}
	if len(c.Before) == 0 || len(c.After) == 0 || !changeID().MatchString(c.ID) {
		return c, errors.New("a damaged change point: it has no ID, or no results")
	}
	return c, nil
}

// publishChanges adds the published change points to each series, and publishes new ones. unkept is
// why new ones could not be stored. Only one process at a time looks for new ones, because two
// could find the same change one result apart.
func (s *Store) publishChanges(all []Series) (unkept, err error) {
	tx, err := s.db.Begin()
	if err != nil {
		return nil, fmt.Errorf("looking for changes: %w", err)
	}
	defer tx.Rollback()
	published, err := s.publishedChanges()
	if err != nil {
		return nil, fmt.Errorf("looking for changes: %w", err)
	}
	done, err := examinedSeries(tx)
	if err != nil {
		return nil, fmt.Errorf("looking for changes: %w", err)
	}
	addPublished(all, published)
	for i := range all {
		t := &all[i]
		t.sortChanges()
		state := t.stateDigest()
		if done[t.examinedKey()] == state {
			continue
		}
		found := t.findChanges()
		if len(found) == 0 {
			if err := markExamined(tx, t.examinedKey(), state); err != nil {
				unkept = fmt.Errorf("keeping which series were examined: %w", err)
			}
		}
		for _, c := range found {
			if err := s.publishChange(c); err != nil {
				c.Published = time.Time{}
				unkept = fmt.Errorf("keeping a change point: %w", err)
			}
			t.Changes = append(t.Changes, c)
		}
		t.sortChanges()
	}
	if err := tx.Commit(); err != nil { // they are examined again
		unkept = cmp.Or(unkept, fmt.Errorf("keeping which series were examined: %w", err))
	}
	return unkept, nil
}

// publishedChanges are all change points in the store's files. It does not use the index, where
// those of another process may be missing. Refresh lists files that cannot be read.
func (s *Store) publishedChanges() (all []Change, err error) {
	entries, err := os.ReadDir(s.pathOf("changes"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	k, _ := kindOf("changes/.json")
	for _, e := range entries {
		path, is := k.indexPath(e)
		if !is {
			continue
		}
		b, err := os.ReadFile(s.pathOf(path))
		if err != nil {
			return nil, err
		}
		if c, err := decodeChange(b); err == nil {
			all = append(all, c)
		}
	}
	return all, nil
}

// publishChange writes a change point, once.
func (s *Store) publishChange(c Change) error {
	if err := os.MkdirAll(s.pathOf("changes"), 0o700); err != nil {
		return err
	}
	b, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	return createFile(s.pathOf("changes", c.ID+".json"), append(b, '\n'))
}

// createFile writes a file that must not exist.
func createFile(path string, content []byte) error {
	return atomicfile.Create(path, atomicfile.ContentWriter(content))
}

// addPublished adds to each series the changes that belong to it: those that rest on one of its
// results. Fingerprints are not enough, because another version of dyno may compute others.
func addPublished(all []Series, published []Change) {
	seriesWith := map[string]int{} // by a result's ID
	for i, t := range all {
		for _, r := range t.Runs {
			seriesWith[r.ID] = i
		}
	}
	for _, c := range published {
		added := map[int]bool{}
		for _, r := range slices.Concat(c.Before, c.After) {
			i, is := seriesWith[r.ID]
			if is && !added[i] && all[i].Metric.Name == c.Metric {
				added[i] = true
				all[i].Changes = append(all[i].Changes, c)
			}
		}
	}
}

func (s *Series) sortChanges() {
	slices.SortFunc(s.Changes, func(a, b Change) int { return a.At().Compare(b.At()) })
}

// At is when the first result after the change began.
func (c Change) At() time.Time { return c.After[0].Started }

// findChanges are the unpublished changes of a series. It examines each stretch between published
// changes by itself, so new results do not move published ones.
func (s *Series) findChanges() (all []Change) {
	from := 0
	for i := range len(s.Changes) + 1 {
		to := len(s.Runs)
		if i < len(s.Changes) {
			at := s.Changes[i].At()
			to = from
			for to < len(s.Runs) && s.Runs[to].Started.Before(at) {
				to++
			}
		}
		all = append(all, s.changesWithin(s.Runs[from:to])...)
		from = to
	}
	return all
}

// changesWithin are the changes within a stretch. That there is one is said by Divide, because with
// ten results on a side the penalty of PELT (stats.Changepoints) leaves little to find. By how
// much, and whether that matters, is said by a comparison of what lies on both sides.
func (s *Series) changesWithin(runs []Run) (all []Change) {
	runs = runs[max(len(runs)-changeLongest, 0):]
	logs := make([]float64, len(runs))
	for i, r := range runs {
		logs[i] = math.Log(r.Value)
	}
	cuts := append(stats.Divide(logs, changeLeast, changeAlpha), len(runs))
	from := 0
	for i, at := range cuts[:len(cuts)-1] {
		before, after := runs[from:at], runs[at:cuts[i+1]]
		from = at
		margin := stats.Margin{Practical: changeMargin}
		j, err := stats.JudgeUnpaired(runValues(after), runValues(before), margin)
		bound := lab.BoundOf(isAnyOver(after), isAnyOver(before))
		if err != nil || j.Verdict != stats.Different || !bound.Shows(j.Ratio.Estimate) {
			continue
		}
		c := newChange(s.Metric, before, after, j)
		c.Bound = bound
		all = append(all, c)
	}
	return all
}

func newChange(m lab.Measure, before, after []Run, j stats.Judgement) Change {
	verdict := Better
	if (j.Ratio.Estimate-1)*float64(m.Better) < 0 {
		verdict = Worse
	}
	return Change{Format: ChangeFormat, ID: after[0].ID + "-" + m.Name, Dyno: loadplan.Version,
		Published: time.Now().UTC().Truncate(time.Second), Metric: m.Name, Unit: m.Unit,
		Verdict: verdict, Ratio: j.Ratio.Estimate, Low: j.Ratio.Low, High: j.Ratio.High, P: j.P,
		Margin: changeMargin, Before: slices.Clone(before), After: slices.Clone(after)}
}

func isAnyOver(runs []Run) bool {
	return slices.ContainsFunc(runs, func(r Run) bool { return r.Over })
}

func runValues(runs []Run) []float64 {
	all := make([]float64, len(runs))
	for i, r := range runs {
		all[i] = r.Value
	}
	return all
}
