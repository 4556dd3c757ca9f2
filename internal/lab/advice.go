package lab

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// An Advice is how long windows should be in the next run of the same experiment.
type Advice struct {
	Within  float64 `json:"within"`             // variation of a second in a trial, as a share
	Between float64 `json:"between"`            // and that between trials
	CostS   float64 `json:"cost_s"`             // time of a trial outside its window
	WindowS int     `json:"window_s,omitempty"` // 0: as long as possible
}

// A Noise is how much pairs of the baseline and its control varied, now and in earlier runs of the
// same experiment on the same machine.
type Noise struct {
	Metric string  `json:"metric"`
	Level  string  `json:"level"`
	Now    float64 `json:"now"`    // as a share, of a pair
	Usual  float64 `json:"usual"`  // median of the others
	Others int     `json:"others"` // experiments
}

// unusual is the factor from which on noise counts as far from usual.
const unusual = 2

// IsUnusual reports whether the noise is far from what it usually is.
func (n Noise) IsUnusual() bool { return n.Now > unusual*n.Usual || n.Now*unusual < n.Usual }

// sameSetup reports whether o is an earlier run of the same experiment on the same machine.
func (r *Record) sameSetup(o *Record) bool {
	return o.State == Complete && o.SHA256 == r.SHA256 && o.Quick == r.Quick &&
		o.Started.Before(r.Started) && o.Host.OS == r.Host.OS && o.Host.CPU == r.Host.CPU &&
		o.Host.CPUs == r.Host.CPUs && slices.Equal(o.CPUs.Server, r.CPUs.Server) &&
		slices.Equal(o.CPUs.Generator, r.CPUs.Generator) && o.Fleet.String() == r.Fleet.String()
}

// historyMax is how many of the newest experiments ReadEarlier reads.
const historyMax = 100

// ReadEarlier returns the runs of the same experiment on the same machine before r whose folders
// lie in dir, oldest first. It reads only the newest hundred folders. A record that cannot be read
// is left out, because it serves only for comparison.
func ReadEarlier(dir string, r *Record) (all []*Record) {
	entries, err := os.ReadDir(dir)
	if dir == "" || err != nil {
		return nil
	}
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int {
		return modTime(a).Compare(modTime(b))
	})
	for _, e := range entries[max(len(entries)-historyMax, 0):] {
		o, err := ReadRecord(filepath.Join(dir, e.Name()))
		if err == nil && r.sameSetup(o) {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *Record) int { return a.Started.Compare(b.Started) })
	return all
}

// modTime is when a folder's contents last changed; zero if that is unknown.
func modTime(e os.DirEntry) time.Time {
	info, err := e.Info()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
