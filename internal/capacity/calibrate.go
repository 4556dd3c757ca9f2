package capacity

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dyno/internal/atomicfile"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/say"
)

// CalibrationFormat is what every calibration says of itself.
const CalibrationFormat = "dyno.calibration/1"

// A Calibration is what the generator can do on a machine, against a server that
// does next to nothing: what is near that is no figure of a server.
type Calibration struct {
	Format  string      `json:"format"`
	Dyno    string      `json:"dyno"`
	Host    result.Host `json:"host"`
	Made    time.Time   `json:"made"`
	Threads int         `json:"threads"` // of the generator, at most
	Apart   bool        `json:"apart"`   // the server had CPUs of its own
	Closed  []Ceiling   `json:"closed"`  // by connections, ascending
	Open    []Pace      `json:"open"`    // by rate, ascending

	// Rings are closed loops too: for each number of connections and each ring the try
	// that took least CPU time per request, of those that nothing disturbed, if any.
	Rings []Ceiling `json:"rings,omitempty"`
}

// A Ceiling is what a closed loop reached: the generator's limit where its busiest
// thread was busy, else that of the server, and the generator's is higher.
type Ceiling struct {
	Connections int     `json:"connections"`
	Rate        float64 `json:"completed_per_s"`
	CPU         float64 `json:"cpu_us_per_request"` // of the generator
	Busy        float64 `json:"busy_percent"`       // its busiest thread
	P50         float64 `json:"p50_us"`
	P99         float64 `json:"p99_us"`
	Ring        string  `json:"ring,omitempty"`      // that it was reached on
	Disturbed   bool    `json:"disturbed,omitempty"` // by other programs, on the same CPUs
}

// A Pace is how well the instants of an open loop were kept.
type Pace struct {
	Rate    float64 `json:"rate_per_s"` // asked for
	Sent    float64 `json:"sent_per_s"`
	LagP99  float64 `json:"send_lag_p99_us"`
	LagMax  float64 `json:"send_lag_max_us"`
	Verdict string  `json:"verdict"`
}

var (
	calibrated = []int{1, 10, 100, 1000}         // connections
	paces      = []float64{0.1, 0.25, 0.5, 0.75} // of the ceiling at pacedBy connections
)

const pacedBy = 100

// ErrNoAnswer is of a calibration whose server answers nothing.
var ErrNoAnswer = errors.New("calibrating")

// A measurer makes a run of a calibration, and says what it is.
type measurer func(p loadplan.Plan, what string) (*result.Result, error)

// Calibrate measures with plan, whose target should do next to nothing, for as long
// as plan says each time. run must take the ring that its plan asks for. each is told
// what comes next. An interrupted one is the error of ctx.
func Calibrate(ctx context.Context, run result.Runner, plan loadplan.Plan,
	each func(string)) (*Calibration, error) {
	c := &Calibration{Format: CalibrationFormat, Dyno: loadplan.Version, Threads: plan.Threads,
		Made: time.Now().UTC().Truncate(time.Second)}
	measure := func(p loadplan.Plan, what string) (*result.Result, error) {
		each(what)
		p.Threads = min(plan.Threads, p.Connections)
		r, err := run(ctx, p, func(loadresult.Interval) {})
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		if r.Latency == nil {
			return nil, fmt.Errorf("%w: %s", ErrNoAnswer,
				say.Plain(nothingAnswered(r)))
		}
		c.Host = r.Host
		return r, nil
	}
	if err := c.measureClosedLoops(plan, measure); err != nil {
		return nil, err
	}
	ceiling := c.ceilingAt(pacedBy)
	for _, share := range paces {
		p := plan
		p.Connections, p.Rate = pacedBy, max(roundRate(share*ceiling), 1)
		p.Ring = c.Ring(p)
		r, err := measure(p, fmt.Sprintf("open loop, %v/s", p.Rate))
		if err != nil {
			return nil, err
		}
		pace := Pace{Rate: p.Rate.PerSecond(), Sent: r.Rate.Sent, Verdict: r.Generator.Verdict}
		if g := r.Generator; g.SendLagP99 != nil && g.SendLagMax != nil {
			pace.LagP99, pace.LagMax = *g.SendLagP99, *g.SendLagMax
		}
		c.Open = append(c.Open, pace)
	}
	return c, nil
}

// PeakRate is the most that was reached with any number of connections, in requests a second.
func (c *Calibration) PeakRate() (most float64) {
	for _, l := range c.Closed {
		most = max(most, l.Rate)
	}
	return most
}

// ceilingAt is what was reached with so many connections; between those that were
// measured, on a line over the logarithm of their number.
func (c *Calibration) ceilingAt(connections int) float64 {
	if len(c.Closed) == 0 {
		return math.Inf(1)
	}
	before, next := c.ceilingsAround(connections)
	if next == before {
		return next.Rate
	}
	along := math.Log(float64(connections)/float64(before.Connections)) /
		math.Log(float64(next.Connections)/float64(before.Connections))
	return before.Rate + along*(next.Rate-before.Rate)
}

// ceilingsAround are the ceilings that tell of so many connections, at least one of which there is:
// those on both sides; twice the same where it was measured, or nothing beyond it was.
func (c *Calibration) ceilingsAround(connections int) (before, next Ceiling) {
	before = c.Closed[0]
	for _, next = range c.Closed {
		switch {
		case next.Connections == connections:
			return next, next
		case next.Connections > connections:
			return before, next
		}
		before = next
	}
	return before, before
}

// Doubtful reports whether other programs disturbed all tries with so many connections: the
// generator may do better than that.
func (c *Calibration) Doubtful(connections int) bool {
	return c.Disturbed(connections) && !slices.ContainsFunc(c.Rings, func(l Ceiling) bool {
		return l.Connections == connections && !l.Disturbed
	})
}

// The shares of a ceiling from which a figure may be the generator's, and above which the
// ceiling was disturbed: what machines do differs by that much from run to run.
const (
	nearCeiling   = 0.8
	aboveCeilings = 1.2
)

// Warning is what a reader of r must know because of the calibration; nil if
// nothing. A calibration of another machine or dyno has nothing to say, nor has one
// of a request at a time where r had several on a connection, nor a ceiling that is doubtful
// or that r itself exceeds by far; nor any of an r that is too short. What other numbers of
// threads reach is taken as in proportion.
func (c *Calibration) Warning(r *result.Result) *fact.Fact {
	n := r.Plan.Connections
	if len(c.Closed) == 0 || r.Plan.Depth() > 1 || r.TooShort() ||
		Fingerprint(c.Host, c.Dyno) != Fingerprint(r.Host, r.Dyno) {
		return nil
	}
	before, next := c.ceilingsAround(n)
	if c.Doubtful(before.Connections) || c.Doubtful(next.Connections) {
		return nil
	}
	ceiling := c.ceilingAt(n) * float64(r.Generator.Threads) / float64(max(min(c.Threads, n), 1))
	share := r.Rate.Completed / ceiling
	if !(share >= nearCeiling && share <= aboveCeilings) {
		return nil
	}
	f := fact.Noticed(fact.NearCeiling{Percent: 100 * share, Ceiling: ceiling, Connections: n,
		Threads: r.Generator.Threads, Calibrated: c.Made.Format("2006-01-02")})
	return &f
}

// Fingerprint is what tells machines and versions apart for which a calibration
// does not hold: twelve letters and digits.
func Fingerprint(h result.Host, version string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %d %q", h.OS, h.Arch, h.Kernel, h.CPU, h.CPUs,
		version))
	return fmt.Sprintf("%x", sum[:6])
}

// CalibrationPath is where the calibration of a machine is kept under home.
func CalibrationPath(home string, h result.Host, version string) string {
	return filepath.Join(home, "calibration-"+Fingerprint(h, version)+".json")
}

// calibrationMost is how large a calibration is at most, in bytes.
const calibrationMost = 8 << 10

// Storable fails where Save would: whoever is to wait for a calibration must not do so in vain.
func Storable(home string) error {
	err := os.MkdirAll(home, 0o700)
	var f *atomicfile.File
	if err == nil {
		f, err = atomicfile.BeginReplace(filepath.Join(home, "calibration-"), 0o600)
	}
	if err == nil {
		_, err = f.Write(make([]byte, calibrationMost)) // there may be no room
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return fmt.Errorf("a calibration could not be stored: %w", err)
	}
	return nil
}

// Save stores the calibration under home, whole or not at all, in the place of the
// one before.
func (c *Calibration) Save(home string) (path string, err error) {
	path = CalibrationPath(home, c.Host, c.Dyno)
	b, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = os.MkdirAll(home, 0o700)
	}
	if err == nil {
		err = atomicfile.Replace(path, 0o600, atomicfile.ContentWriter(append(b, '\n')))
	}
	if err != nil {
		return "", fmt.Errorf("storing the calibration: %w", err)
	}
	return path, nil
}

// OpenCalibration reads that of a machine; nil if there is none.
func OpenCalibration(home string, h result.Host, version string) (*Calibration, error) {
	path := CalibrationPath(home, h, version)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	c := new(Calibration)
	if err == nil {
		err = json.Unmarshal(b, c)
	}
	if err == nil && c.Format != CalibrationFormat {
		err = fmt.Errorf("its format is %q, not %q", c.Format, CalibrationFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the calibration %s: %w; dyno calibrate makes a new one",
			path, err)
	}
	return c, nil
}
