package result

import (
	"os"
	"path/filepath"

	"dyno/internal/fact"
	"dyno/internal/observe/profile"
)

// A Profile is where the server spent its time while it was loaded.
type Profile struct {
	Kind      profile.Kind   `json:"kind"`
	DurationS float64        `json:"duration_s"`
	Samples   int64          `json:"samples"`        // 0: the server was idle
	File      string         `json:"file,omitempty"` // path, in pprof's format
	Top       []profile.Line `json:"top"`            // functions, the largest flat share first

	Taken *profile.Profile `json:"-"` // not saved yet; nil in a result that was read
}

// mostFunctions is how many functions Top has at most.
const mostFunctions = 20

// NewProfile is the stored form of a profile of that kind.
func NewProfile(kind profile.Kind, p *profile.Profile) *Profile {
	all, _ := profile.Share(p, "") // an empty pattern matches every function
	out := &Profile{Kind: kind, DurationS: float64(p.DurationNanos) / 1e9, Samples: all.Samples,
		Top: profile.Top(p, mostFunctions), Taken: p}
	if out.Top == nil {
		out.Top = []profile.Line{}
	}
	return out
}

// SaveProfile writes the profile, unless it is saved already, to a file whose name is base, the
// profile's kind and .pb.gz. A file that cannot be written causes a warning only, because the
// result is worth more.
func (r *Result) SaveProfile(base string) {
	p := r.Profile
	if p == nil || p.Taken == nil || p.File != "" {
		return
	}
	path, err := filepath.Abs(base + "." + string(p.Kind) + ".pb.gz")
	if err == nil {
		err = profile.Save(path, p.Taken)
	}
	if err != nil {
		r.Warn(*told(fact.ProfileLacking{Taken: true, Why: err.Error()}))
		return
	}
	p.File = path
}

// DiscardProfile removes what SaveProfile wrote.
func (r *Result) DiscardProfile() {
	if r.Profile != nil && r.Profile.File != "" {
		os.Remove(r.Profile.File)
		r.Profile.File = ""
	}
}
