package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"dyno/internal/lab"
	"dyno/internal/view/format"
)

// conditions are what trials were made under: what was the same for all, and what was not.
type conditions struct {
	Same    []condition  `json:"same"`
	Differs []difference `json:"differs"`
}

// A condition has one value in all trials.
type condition struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// A difference has several values: those there were, and which of them each trial had, -1
// where it had none.
type difference struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
	Of     []int    `json:"of"`
}

// A survey collects the conditions of trials.
type survey struct {
	keys   map[string]*difference
	trials int
}

// longestValue is how many characters of a condition are shown.
const longestValue = 200

// beginTrial begins the conditions of another trial.
func (s *survey) beginTrial() { s.trials++ }

// addTrial takes a trial's conditions.
func (s *survey) addTrial(t *lab.Trial) error {
	s.beginTrial()
	if t.Result == nil {
		return nil
	}
	programs := map[string]string{} // their arguments have ports, their paths the trial's folder
	for _, p := range t.Programs {
		programs[p.Process+" "+filepath.Base(p.Path)] = p.SHA256
	}
	raw, err := json.Marshal(map[string]any{"dyno": t.Result.Dyno, "host": t.Result.Host,
		"plan": t.Result.Plan, "ring": t.Result.Generator.Ring, "threads": t.Result.Generator.Threads,
		"answer.wire_bytes": t.Wire, "programs": programs})
	if err != nil {
		return fmt.Errorf("trial %s: %w", t.ID, err)
	}
	var tree any
	numbers := json.NewDecoder(bytes.NewReader(raw))
	numbers.UseNumber() // as they are written: 1000000 and not 1e+06
	if err := numbers.Decode(&tree); err != nil {
		return fmt.Errorf("trial %s: %w", t.ID, err)
	}
	s.noteLeaves("", tree)
	return nil
}

// noteLeaves notes every leaf of a tree under its path.
func (s *survey) noteLeaves(path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			s.noteLeaves(joinPath(path, key), child)
		}
	case []any:
		for i, child := range v {
			s.noteLeaves(joinPath(path, strconv.Itoa(i)), child)
		}
	default:
		s.noteValue(path, format.Clip(fmt.Sprint(v), longestValue))
	}
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func (s *survey) noteValue(key, value string) {
	if s.keys == nil {
		s.keys = map[string]*difference{}
	}
	d := s.keys[key]
	if d == nil {
		d = &difference{Key: key}
		s.keys[key] = d
	}
	n := slices.Index(d.Values, value)
	if n < 0 {
		n, d.Values = len(d.Values), append(d.Values, value)
	}
	d.fillAbsent(s.trials - 1)
	d.Of = append(d.Of, n)
}

// fillAbsent says of trials that had no value that they had none.
func (d *difference) fillAbsent(until int) {
	for len(d.Of) < until {
		d.Of = append(d.Of, -1)
	}
}

// conditions are what the survey found, by their names.
func (s *survey) conditions() (c conditions) {
	for _, key := range slices.Sorted(maps.Keys(s.keys)) {
		d := s.keys[key]
		d.fillAbsent(s.trials)
		if len(d.Values) == 1 && !slices.Contains(d.Of, -1) {
			c.Same = append(c.Same, condition{key, d.Values[0]})
		} else {
			c.Differs = append(c.Differs, *d)
		}
	}
	return c
}
