package lab

import (
	"fmt"
	"path/filepath"
	"time"
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
	return r, err
}
