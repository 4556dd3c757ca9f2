package probe

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// A Value is a number that may be absent: NaN here, null in JSON.
type Value float64

// OK says that the value is there.
func (v Value) OK() bool { return !math.IsNaN(float64(v)) }

// MarshalJSON writes null for what is absent, and else as many digits as it takes to read the
// same number again. A rounded one would be rounded a second time where it is shown.
func (v Value) MarshalJSON() ([]byte, error) {
	if !v.OK() || math.IsInf(float64(v), 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(v), 'f', -1, 64), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Value) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*v = Value(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(v))
}

// A Series is one reading over time.
type Series struct {
	Name string    // in the field's words, "host.cpu.steal", "tree.rss", "process.cpu"
	Unit string    // "%", "bytes", "bytes/s", "1/s", "MHz", "°C", "" for a count
	Of   string    // of the machine "", of a tree its name, of a process its name and role
	Tree string    // of a process, its tree
	PID  int       // of a process
	T    []float64 // s after Recording.Started, ascending; shared with others of its group
	V    []float64 // NaN is n/a
}

// A Recording is what a Sampler saw. Host CPU is in percent of all CPUs, the CPU
// of a tree or process in percent of one. Its JSON has the series in groups that
// share their instants; Between and Host answer only before that, in the process
// that recorded.
type Recording struct {
	Started     time.Time
	Every       float64 // s, the pace of the fastest readings
	Series      []Series
	Trees       []Use // over the whole recording
	Cost        Cost
	Unavailable []string // what is n/a, and why

	host  *host
	trees []*tree
}

// Cost is what sampling itself used: the CPU time of its thread.
type Cost struct {
	CPU       Value `json:"cpu_ns"`
	PerSample Value `json:"per_sample_ns"`
	Share     Value `json:"share_percent"` // of one core
	Samples   int   `json:"samples"`
}

type recordingJSON struct {
	Started     time.Time   `json:"started"`
	Every       Value       `json:"every_s"`
	Groups      []groupJSON `json:"groups"`
	Trees       []Use       `json:"trees"`
	Cost        Cost        `json:"cost"`
	Unavailable []string    `json:"unavailable"`
}

type groupJSON struct {
	T      numbers      `json:"t_s"`
	Series []seriesJSON `json:"series"`
}

type seriesJSON struct {
	Name string  `json:"name"`
	Unit string  `json:"unit,omitempty"`
	Of   string  `json:"of,omitempty"`
	Tree string  `json:"tree,omitempty"`
	PID  int     `json:"pid,omitempty"`
	V    numbers `json:"v"` // null: all n/a
}

// numbers are rounded to their decimals when written.
type numbers struct {
	x        []float64
	decimals int
}

func (n numbers) MarshalJSON() ([]byte, error) {
	absent := true
	for _, x := range n.x {
		absent = absent && math.IsNaN(x)
	}
	if absent && len(n.x) > 0 {
		return []byte("null"), nil
	}
	out := append(make([]byte, 0, 6*len(n.x)+2), '[')
	for i, x := range n.x {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendNumber(out, x, n.decimals)
	}
	return append(out, ']'), nil
}

func (n *numbers) UnmarshalJSON(b []byte) error {
	var all []*float64 // not Value, whose method would be called for each number
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	if all == nil {
		return nil
	}
	n.x = newNaNs(len(all))
	for i, v := range all {
		if v != nil {
			n.x[i] = *v
		}
	}
	return nil
}

// appendNumber writes x with at most so many decimals, and no more digits than
// it needs; what is not a number is null.
func appendNumber(out []byte, x float64, decimals int) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(out, "null"...)
	}
	unit := math.Pow10(decimals)
	if math.Abs(x) < 1e15/unit {
		x = math.Round(x*unit) / unit
	}
	return strconv.AppendFloat(out, x+0, 'f', -1, 64) // +0: a rounded −0 is 0
}

// decimalsOf is how precisely a unit is worth writing.
func decimalsOf(unit string) int {
	switch unit {
	case "%", "":
		return 2
	case "1/s", "°C":
		return 1
	default:
		return 0
	}
}

// MarshalJSON writes series that share their instants as one group.
func (r *Recording) MarshalJSON() ([]byte, error) {
	out := recordingJSON{
		Started: r.Started, Every: Value(r.Every), Trees: r.Trees, Cost: r.Cost,
		Groups: []groupJSON{}, Unavailable: r.Unavailable,
	}
	var last []float64
	for i, s := range r.Series {
		if i == 0 || !isSameSlice(s.T, last) {
			out.Groups = append(out.Groups, groupJSON{T: numbers{s.T, 3}})
			last = s.T
		}
		g := &out.Groups[len(out.Groups)-1]
		g.Series = append(g.Series, seriesJSON{
			s.Name, s.Unit, s.Of, s.Tree, s.PID, numbers{s.V, decimalsOf(s.Unit)},
		})
	}
	return json.Marshal(out)
}

func isSameSlice(a, b []float64) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Recording) UnmarshalJSON(b []byte) error {
	var in recordingJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("read a recording: %w", err)
	}
	*r = Recording{
		Started: in.Started, Every: float64(in.Every), Trees: in.Trees, Cost: in.Cost,
		Unavailable: in.Unavailable,
	}
	for _, g := range in.Groups {
		for _, s := range g.Series {
			if s.V.x == nil {
				s.V.x = newNaNs(len(g.T.x))
			}
			if len(s.V.x) != len(g.T.x) {
				return fmt.Errorf("read a recording: series %s has %d values at %d instants",
					s.Name, len(s.V.x), len(g.T.x))
			}
			r.Series = append(r.Series, Series{s.Name, s.Unit, s.Of, s.Tree, s.PID, g.T.x, s.V.x})
		}
	}
	return nil
}
