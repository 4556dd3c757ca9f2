package lab

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"dyno/internal/fact"
)

// ReadTrial reads a trial of the experiment whose folder is dir, by its ID in the record. It
// includes the recording of the machine, which is large, so callers should read one trial at a
// time.
func ReadTrial(dir, id string) (*Trial, error) {
	if id == "" || id != filepath.Base(id) || !filepath.IsLocal(id) {
		return nil, fmt.Errorf("%q is no trial's ID; the record of %s is damaged", id, dir)
	}
	t := new(Trial)
	err := Folder{Dir: dir}.readFormat(filepath.Join(TrialsFolder, id+".json"), TrialFormat, t)
	if err != nil {
		return nil, fmt.Errorf("reading trial %s: %w", id, err)
	}
	return t, nil
}

// A Heading is what a list shows of an experiment.
type Heading struct {
	Name    string    `json:"name"`
	State   State     `json:"state"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Quick   bool      `json:"quick,omitempty"`
}

// Heading is the record's Heading.
func (r *Record) Heading() Heading { return Heading{r.Name, r.State, r.Started, r.Ended, r.Quick} }

// ReadHeading reads only the Heading of the experiment whose folder is dir.
func ReadHeading(dir string) (h Heading, err error) {
	err = Folder{Dir: dir}.readRecord(&h)
	return h, err
}

// ReadRecord reads only the record, without the trials.
func ReadRecord(dir string) (*Record, error) {
	r := new(Record)
	r.Dir = dir
	err := Folder{Dir: dir}.readRecord(r)
	r.convertMemory()
	r.factsOfTexts()
	return r, err
}

// factsOfTexts makes facts of the cautions that an earlier version stored as texts alone.
func (r *Record) factsOfTexts() {
	isCaution := func(f fact.Fact) bool { return f.Kind() != (fact.ServerSpoiled{}).Kind() }
	if slices.ContainsFunc(r.Facts, isCaution) {
		return
	}
	told := make([]fact.Fact, len(r.Cautions))
	for i, text := range r.Cautions {
		told[i] = fact.Fact{Severity: fact.Warning, Args: fact.Told{Text: text}}
	}
	r.Facts = append(told, r.Facts...)
}
