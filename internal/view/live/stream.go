package live

import (
	"bytes"
	_ "embed" // for intervalSchema
	"encoding/json"
	"io"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/result"
)

// IntervalFormat is what each line of an interval says of itself.
const IntervalFormat = "dyno.interval/1"

//go:embed interval.schema.json
var intervalSchema []byte

// IntervalSchema is the JSON Schema (2020-12) of an Interval.
func IntervalSchema() []byte { return result.WithPercentiles(intervalSchema) }

// An Interval is a line of a stream: a second of the window, or the rest of one. It has the keys of
// a point of a result's series, but for its heat.
type Interval struct {
	Format string  `json:"format"`
	From   float64 `json:"from_s"` // its begin, after the window's start
	result.Point

	Offered  *float64       `json:"offered,omitempty"` // open: requests due a second
	Failures []result.Error `json:"failures,omitempty"`

	ErrorLatency  *Times              `json:"error_latency,omitempty"`  // of answers that were errors
	IterationTime *Times              `json:"iteration_time,omitempty"` // of those that completed
	Checks        []result.CheckCount `json:"checks,omitempty"`         // that it has outcomes of

	BusyPercent float64 `json:"busy_percent"` // of the busiest thread
	LagMax      float64 `json:"send_lag_max_us,omitempty"`
}

// Times are those of what ended in an interval.
type Times struct {
	Mean float64 `json:"mean_us"`
	P50  float64 `json:"p50_us"`
	P99  float64 `json:"p99_us"`
	Max  float64 `json:"max_us"`
}

// timesOf are the times of a distribution of ns; nil if it is empty.
func timesOf(s metric.Sparse) *Times {
	if s.Count == 0 {
		return nil
	}
	t := &Times{Mean: s.Mean() / 1e3, Max: float64(s.Max) / 1e3}
	for _, p := range metric.Percentiles(t) {
		*p.Value = float64(s.Quantile(p.Percent/100)) / 1e3
	}
	return t
}

// NewInterval is the line of an interval of a run of p.
func NewInterval(p *loadplan.Plan, iv loadresult.Interval) Interval {
	line := Interval{Format: IntervalFormat, From: iv.From.Seconds(), Point: result.PointOf(iv),
		Offered: offered(p, iv), Failures: result.NewErrors(iv.Failures), BusyPercent: 100 * iv.Busy,
		LagMax: float64(iv.LagMax) / 1e3, IterationTime: timesOf(iv.IterationTime),
		ErrorLatency: timesOf(iv.ErrorLatency)}
	for _, c := range checkCounts(p, iv.Checks) {
		if c.Passed+c.Failed > 0 {
			line.Checks = append(line.Checks, c)
		}
	}
	line.Heat, line.Users = nil, p.UsersAt(iv.To)
	return line
}

// offered is the rate at which requests were due in an interval, 0 after the window; nil of a
// closed workload.
func offered(p *loadplan.Plan, iv loadresult.Interval) *float64 {
	if !p.Open() {
		return nil
	}
	rate := p.OfferedBetween(iv.From, iv.To).PerSecond()
	return &rate
}

// A Stream writes a run as lines of JSON: an Interval a second, then the result, and nothing else.
type Stream struct {
	to   io.Writer
	plan loadplan.Plan
	err  error
}

// NewStream returns a stream of a run of p, which is as for NewMetrics. It writes each line with
// one call of to.Write.
func NewStream(to io.Writer, p loadplan.Plan) *Stream { return &Stream{to: to, plan: p} }

// Add writes an interval. After an error it writes no more; End returns the error.
func (s *Stream) Add(iv loadresult.Interval) { s.writeLine(NewInterval(&s.plan, iv)) }

// End writes the result, which is the last line. It returns the first error of all lines.
func (s *Stream) End(r *result.Result) error {
	s.writeLine(r)
	return s.err
}

func (s *Stream) writeLine(v any) {
	if s.err != nil {
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b) // which ends it with a line break
	e.SetEscapeHTML(false)
	if s.err = e.Encode(v); s.err == nil {
		_, s.err = s.to.Write(b.Bytes())
	}
}
