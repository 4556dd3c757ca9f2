// Package payload has what the page and the charts of a result are made from: it decodes
// histograms, reads trials and profiles, and finds curves and laws. The page embeds it as JSON, for
// its tables; package chart makes every figure of it.
//
//	capacity.go     a search or a sweep
//	column.go       numbers of a column as JSON
//	conditions.go   under which conditions trials were made, and where they differ
//	experiment.go   an experiment
//	flames.go       flame graphs of profiles
//	ladder.go       levels that differ in their rate alone, and the law of them
//	numbers.go      tiles and tables of a run (also of routes, and the order of their rows), as
//	                reports write their numbers
//	panels.go       what the sampler saw of machine and processes
//	past.go         the history of a configuration
//	run.go          a run, with its percentile curves
//	spectra.go      percentile curves of an experiment, with bands
//	texts.go        numbers as an experiment's page writes them
//	trials.go       each trial: start, warm-up, seconds
package payload

import (
	"math"
	"strings"

	"dyno/internal/result"
	"dyno/internal/result/streamed"
	"dyno/internal/view/answer"
	"dyno/internal/view/report"
)

// A Run is the payload of a result's page.
type Run struct {
	Kind    string           `json:"kind"`
	Answer  answer.Answer    `json:"answer"`
	Summary string           `json:"summary"` // of the answer, as Markdown
	Words   report.Sentences `json:"words"`
	Result  *result.Result   `json:"result"`
	Tiles   []Tile           `json:"tiles"`
	// Durations and Phases have a column, or a row, for each distribution.
	Durations Table      `json:"durations"`
	Phases    Table      `json:"phases"`
	Routes    *Table     `json:"routes,omitempty"`  // a row for each; nil if there are none
	Checks    *Table     `json:"checks,omitempty"`  // likewise
	Metrics   *Table     `json:"metrics,omitempty"` // likewise
	Spectra   []Spectrum `json:"-"`
}

// Title is what was loaded, behind the verdict on the run if that is not good.
func (p Run) Title() string {
	if v := p.Result.RunVerdict(); v != result.OK {
		return strings.ToUpper(v) + ": " + p.Words.What
	}
	return p.Words.What
}

// OfRun is what a run measured.
func OfRun(r *result.Result) Run {
	a := report.RunAnswer(r)
	p := Run{Kind: "run", Answer: a.OnPage(), Words: report.RunSentences(r), Result: r}
	p.Words.Reasons, p.Words.Warnings = nil, nil // they are the answer's cautions
	if r.Generator.NotJudged() {
		p.Words.Verdict = report.GeneratorWord(r) // a caution says why
	}
	p.Spectra = p.spectraOf()
	p.Tiles, p.Durations, p.Phases = TilesOf(r), p.durations(), p.phases()
	p.Routes, p.Checks, p.Metrics = routes(r), checks(r), metrics(r)
	p.Summary = a.Markdown(p.Words.Command, answer.Limits{})
	return p
}

// A Spectrum is a distribution by its quantiles, from 0 on, up to the last that enough values lie
// beyond.
type Spectrum struct {
	Of     string       `json:"of"` // the key of the result: latency, phases.connect
	Name   string       `json:"name"`
	Count  int64        `json:"count"`
	Points [][2]float64 `json:"points"`        // quantile and µs
	Why    string       `json:"why,omitempty"` // there are no points
}

const (
	beyond    = 10 // values that lie beyond the last quantile drawn
	perDecade = 40 // points of a spectrum for each factor of ten in 1/(1−q)
)

// A NamedDistribution is a distribution of a run.
type NamedDistribution struct {
	Of, Name string // the key of the result, and what people call it
	*result.Distribution
}

// Distributions are those that have a curve; service time only where it is not latency.
func (p Run) Distributions() (all []NamedDistribution) {
	for _, d := range p.everyDistribution() {
		if d.Of != "probe.error_latency" && (d.Of != "service" || p.Result.SentLater()) {
			all = append(all, d)
		}
	}
	return all
}

// everyDistribution is each of the run that there is.
func (p Run) everyDistribution() (all []NamedDistribution) {
	r := p.Result
	var beside result.Probe
	if r.Probe != nil {
		beside = *r.Probe
	}
	var streams streamed.Stream
	if r.Stream != nil {
		streams = *r.Stream
	}
	for _, d := range []NamedDistribution{{"latency", "latency", r.Latency},
		{"service", "service time", r.Service}, {"error_latency", "error latency", r.ErrorLatency},
		{"iterations.time", "iteration", r.IterationTime()},
		{"iterations.failed_time", "failed iteration", r.FailedIterationTime()},
		{"stream.first_event", "first event", streams.First}, {"stream.gap", "gap", streams.Gap},
		{"stream.token_time", "token time", streams.Token},
		{"phases.first_byte", "first byte", r.Phases.FirstByte},
		{"phases.connect", "connect", r.Phases.Connect}, {"phases.tls", "TLS", r.Phases.TLS},
		{"phases.tls_full", "TLS, full", r.Phases.TLSFull},
		{"phases.tls_resumed", "TLS, resumed", r.Phases.TLSResumed},
		{"phases.dns", "DNS", r.Phases.DNS}, {"probe.latency", "probe latency", beside.Latency},
		{"probe.service", "probe service", beside.Service},
		{"probe.error_latency", "probe error latency", beside.ErrorLatency}} {
		if d.Distribution != nil {
			all = append(all, d)
		}
	}
	return all
}

// spectraOf has one for each distribution.
func (p Run) spectraOf() []Spectrum {
	all := []Spectrum{}
	for _, d := range p.Distributions() {
		all = append(all, spectrumOf(d.Of, d.Name, d.Distribution))
	}
	return all
}

func spectrumOf(of, name string, d *result.Distribution) Spectrum {
	s := Spectrum{Of: of, Name: name, Count: d.Count, Points: [][2]float64{}}
	switch _, err := d.Histogram(); {
	case d.HDR == "":
		s.Why = "the result has no histogram of it"
	case err != nil:
		s.Why = "its histogram cannot be read: " + err.Error()
	case d.Count < 2*beyond:
		s.Why = "too few were measured for one"
	default:
		s.Points = spectrumPoints(d)
	}
	return s
}

// spectrumPoints are points of the spectrum of a distribution that has a histogram, quantile and
// µs, evenly spaced in the logarithm of 1/(1−q), to four digits, up to where requests had no
// answer.
func spectrumPoints(d *result.Distribution) [][2]float64 {
	points, at := [][2]float64{}, []float64{}
	last := d.Beyond(0) / beyond // 1/(1−q) of the last
	for i := range int(perDecade*math.Log10(last)) + 1 {
		at = append(at, 1-math.Pow(10, -float64(i)/perDecade))
	}
	values, over, err := d.Quantiles(at)
	if err != nil {
		return points // it is not as it should be
	}
	for i, q := range at {
		if over[i] {
			break
		}
		points = append(points, [2]float64{roundDigits(q, 9), roundDigits(values[i], 4)})
	}
	return points
}

// roundDigits is v to n significant digits: more would be size without knowledge.
func roundDigits(v float64, n int) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	scale := math.Pow(10, float64(n-1)-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}
