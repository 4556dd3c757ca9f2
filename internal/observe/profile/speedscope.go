package profile

import (
	"encoding/json"
	"fmt"
	"io"
)

// A speedscopeFile is what https://www.speedscope.app reads: its file format, version 0.0.1,
// the part of it that sampled profiles need.
type speedscopeFile struct {
	Schema   string              `json:"$schema"`
	Exporter string              `json:"exporter"`
	Shared   speedscopeShared    `json:"shared"`
	Active   int                 `json:"activeProfileIndex"`
	Profiles []speedscopeProfile `json:"profiles"`
}

type speedscopeShared struct {
	Frames []speedscopeFrame `json:"frames"`
}

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int64  `json:"line,omitempty"`
}

type speedscopeProfile struct {
	Type    string  `json:"type"`
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Start   int64   `json:"startValue"`
	End     int64   `json:"endValue"`
	Samples [][]int `json:"samples"` // indices of frames, from the outermost on
	Weights []int64 `json:"weights"`
}

// speedscopeUnits are those of pprof that speedscope knows.
var speedscopeUnits = map[string]string{
	"nanoseconds": "nanoseconds", "microseconds": "microseconds",
	"milliseconds": "milliseconds", "seconds": "seconds", "bytes": "bytes",
}

// Speedscope writes p for speedscope, with each of its sample types, the default one shown
// first. Samples without a positive value are left out, as speedscope has no place for them.
func Speedscope(w io.Writer, p *Profile) error {
	file := speedscopeFile{
		Schema: "https://www.speedscope.app/file-format-schema.json", Exporter: "dyno",
		Shared: speedscopeShared{Frames: []speedscopeFrame{}}, Active: max(0, newWeighing(p).value),
		Profiles: []speedscopeProfile{},
	}
	known := map[frame]int{}
	stacks := make([][]int, len(p.Sample))
	for i, sample := range p.Sample {
		stacks[i] = []int{}
		for _, f := range framesFromRoot(sample) {
			n, seen := known[f]
			if !seen {
				n = len(known)
				known[f] = n
				file.Shared.Frames = append(file.Shared.Frames,
					speedscopeFrame{f.name, f.file, f.line})
			}
			stacks[i] = append(stacks[i], n)
		}
	}
	for t, kind := range p.SampleType {
		unit := speedscopeUnits[kind.Unit]
		if unit == "" {
			unit = "none"
		}
		out := speedscopeProfile{Type: "sampled", Name: kind.Type, Unit: unit,
			Samples: [][]int{}, Weights: []int64{}}
		for i, sample := range p.Sample {
			if v := sample.Value[t]; v > 0 {
				out.Samples, out.Weights = append(out.Samples, stacks[i]), append(out.Weights, v)
				out.End += v
			}
		}
		file.Profiles = append(file.Profiles, out)
	}
	if err := json.NewEncoder(w).Encode(file); err != nil {
		return fmt.Errorf("writing the profile for speedscope: %w", err)
	}
	return nil
}
