package payload

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"dyno/internal/lab"
	"dyno/internal/observe/profile"
)

// A flame is a profile as a flame graph: the boxes in the order of a walk from the root, in
// columns. Shares are of the profile's total; those of the baseline's profile lie beside.
type flame struct {
	Taken    int    `json:"taken"` // of Record.Profiles; of several levels together the first
	Arm      string `json:"arm"`
	Level    string `json:"level,omitempty"` // "": all of them, merged
	Kind     string `json:"kind"`
	Baseline string `json:"baseline,omitempty"` // arm whose shares lie beside

	Total int64  `json:"total,omitempty"` // in Unit
	Unit  string `json:"unit,omitempty"`

	Names    []string `json:"names"`
	Kernel   []int    `json:"kernel,omitempty"` // names that run in the kernel
	Name     []int    `json:"name"`             // of each box, of Names
	Depth    []int    `json:"depth"`
	All      column   `json:"all"` // with what it calls
	Self     column   `json:"self"`
	BaseAll  column   `json:"base_all,omitempty"`
	BaseSelf column   `json:"base_self,omitempty"`
	Least    float64  `json:"least"` // share below which boxes are left out

	File       string `json:"file,omitempty"`       // in the experiment's folder
	PProf      string `json:"pprof,omitempty"`      // the file, in base64
	Speedscope string `json:"speedscope,omitempty"` // gzipped, in base64
	Problem    string `json:"problem,omitempty"`    // why there is nothing to draw
}

const (
	boxesMost     = 2000    // of a flame
	leastShare    = 0.0002  // of a box
	downloadsRoom = 300_000 // bytes of all files together, in base64
)

// A profileFiles is the profiles of a folder, read.
type profileFiles struct {
	dir   string
	taken []lab.TakenProfile
	read  map[int]*profile.Profile
	left  int // room for downloads
}

// flamesOf are those of all profiles of an experiment, and of each arm's that has several of
// a kind one more of them together.
func flamesOf(dir string, r *lab.Record) (all []flame) {
	s := &profileFiles{dir: dir, taken: r.Profiles, read: map[int]*profile.Profile{},
		left: downloadsRoom}
	baseline := map[string]string{}
	for _, a := range r.Arms {
		if r.SamePrograms(a.Name, a.Baseline) { // functions of different programs do not compare
			baseline[a.Name] = a.Baseline
		}
	}
	for i, t := range s.taken {
		if t.File == "" {
			continue // the record says why
		}
		f := flame{Taken: i, Arm: t.Arm, Level: t.Level, Kind: t.Kind, File: t.File}
		p, err := s.openProfile(i)
		if err == nil {
			err = f.addBoxes(p, s.profileOf(baseline[t.Arm], t.Level, t.Kind), baseline[t.Arm])
		}
		if err == nil {
			err = s.attachDownloads(&f, p)
		}
		if err != nil {
			f.Problem = err.Error()
		}
		all = append(all, f)
	}
	return append(all, s.mergedFlames(baseline)...)
}

// openProfile reads a profile, once.
func (s *profileFiles) openProfile(i int) (*profile.Profile, error) {
	if p := s.read[i]; p != nil {
		return p, nil
	}
	if !filepath.IsLocal(s.taken[i].File) {
		return nil, fmt.Errorf("%q lies outside the experiment's folder", s.taken[i].File)
	}
	p, err := profile.Load(filepath.Join(s.dir, s.taken[i].File))
	if err == nil {
		s.read[i] = p
	}
	return p, err
}

// profileOf is the profile of an arm at a level, "" for all merged; nil if there is none.
func (s *profileFiles) profileOf(arm, level, kind string) *profile.Profile {
	var found []*profile.Profile
	for i, t := range s.taken {
		if t.Arm != arm || t.Kind != kind || t.File == "" || level != "" && t.Level != level {
			continue
		}
		if p, err := s.openProfile(i); err == nil {
			found = append(found, p)
		}
	}
	if len(found) < 2 {
		return append(found, nil)[0]
	}
	p, err := profile.Merge(found...)
	if err != nil {
		return nil // of another version of the server, say
	}
	return p
}

// mergedFlames are the flames of arms that were profiled at several levels, of all of these.
func (s *profileFiles) mergedFlames(baseline map[string]string) (all []flame) {
	type which struct{ arm, kind string }
	first, times := map[which]int{}, map[which]int{}
	var order []which
	for i, t := range s.taken {
		w := which{t.Arm, t.Kind}
		if s.read[i] == nil {
			continue
		}
		if times[w]++; times[w] == 1 {
			first[w], order = i, append(order, w)
		}
	}
	for _, w := range order {
		p := s.profileOf(w.arm, "", w.kind)
		if times[w] < 2 || p == nil {
			continue
		}
		f := flame{Taken: first[w], Arm: w.arm, Kind: w.kind}
		if err := f.addBoxes(p, s.profileOf(baseline[w.arm], "", w.kind), baseline[w.arm]); err == nil {
			all = append(all, f)
		}
	}
	return all
}

// attachDownloads puts the profile's files into the flame, while there is room.
func (s *profileFiles) attachDownloads(f *flame, p *profile.Profile) error {
	raw, err := os.ReadFile(filepath.Join(s.dir, f.File))
	if err != nil {
		return fmt.Errorf("reading a profile: %w", err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if err := errors.Join(profile.Speedscope(z, p), z.Close()); err != nil {
		return err
	}
	pprof := base64.StdEncoding.EncodeToString(raw)
	speedscope := base64.StdEncoding.EncodeToString(packed.Bytes())
	if size := len(pprof) + len(speedscope); size <= s.left {
		s.left -= size
		f.PProf, f.Speedscope = pprof, speedscope
	}
	return nil
}

// addBoxes makes the boxes of p, and lays those of base beside if there is one.
func (f *flame) addBoxes(p, base *profile.Profile, baseline string) error {
	tree := profile.Tree(p)
	if tree.Total <= 0 {
		return profile.ErrNoSamples
	}
	f.Total = tree.Total
	if all, ok := profile.Share(p, ""); ok { // which every name contains
		f.Unit = all.Unit
	}
	d, err := profile.DiffTree(cmp.Or(base, p), p)
	if err != nil { // the baseline's has no samples, or is of another kind
		base = nil
		d, err = profile.DiffTree(p, p)
	}
	if err != nil {
		return err
	}
	f.Least = leastShare
	for countBoxes(d, f.Least) > boxesMost {
		f.Least *= 1.5
	}
	f.addBoxesBelow(d, 0, map[string]int{})
	if base == nil {
		f.BaseAll, f.BaseSelf = nil, nil
	} else {
		f.Baseline = baseline
	}
	return nil
}

// countBoxes is how many boxes have at least a share in either profile.
func countBoxes(d *profile.DiffNode, least float64) int {
	if max(d.Base, d.Other) < least {
		return 0
	}
	n := 1
	for _, c := range d.Children {
		n += countBoxes(c, least)
	}
	return n
}

func (f *flame) addBoxesBelow(d *profile.DiffNode, depth int, known map[string]int) {
	if max(d.Base, d.Other) < f.Least {
		return
	}
	n, seen := known[d.Name]
	if !seen {
		n = len(f.Names)
		known[d.Name], f.Names = n, append(f.Names, d.Name)
		if d.Kernel {
			f.Kernel = append(f.Kernel, n)
		}
	}
	f.Name, f.Depth = append(f.Name, n), append(f.Depth, depth)
	f.All, f.Self = append(f.All, d.Other), append(f.Self, d.OtherSelf)
	f.BaseAll, f.BaseSelf = append(f.BaseAll, d.Base), append(f.BaseSelf, d.BaseSelf)
	for _, c := range d.Children {
		f.addBoxesBelow(c, depth+1, known)
	}
}
