package page

import (
	"io"
	"math"
	"strings"

	"dyno/internal/engine/metric"
	"dyno/internal/result"
	"dyno/internal/view/answer"
	"dyno/internal/view/report"
)

// A RunPayload is the payload of a result's page.
type RunPayload struct {
	Kind    string           `json:"kind"`
	Answer  answer.Answer    `json:"answer"`
	Summary string           `json:"summary"` // of the answer, as Markdown
	Words   report.Sentences `json:"words"`
	Result  *result.Result   `json:"result"`
	Spectra []spectrum       `json:"spectra"`
}

// Run writes what a run measured as one HTML file.
func Run(w io.Writer, r *result.Result) error { return WriteRun(w, OfRun(r)) }

// WriteRun is Run of a payload, whose answer may be in the words of where it is shown.
func WriteRun(w io.Writer, p RunPayload) error {
	return document{title: p.title(), summary: p.Answer.Sentence, payload: p}.writeHTML(w)
}

// title is what was loaded, behind the verdict on the run if that is not good.
func (p RunPayload) title() string {
	if v := p.Result.RunVerdict(); v != result.OK {
		return strings.ToUpper(v) + ": " + p.Words.What
	}
	return p.Words.What
}

// OfRun is what Run draws, for those who draw it elsewhere.
func OfRun(r *result.Result) RunPayload {
	p := RunPayload{Kind: "run", Answer: report.RunAnswer(r), Words: report.RunSentences(r), Result: r}
	p.Spectra = p.spectraOf()
	p.Summary = p.Answer.Markdown(p.Words.Command, answer.Limits{})
	return p
}

// A spectrum is a distribution by its quantiles, from 0 on, up to the last that enough values lie
// beyond.
type spectrum struct {
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

// Distributions are those of the run that there are; service time only where it is not latency.
func (p RunPayload) Distributions() (all []NamedDistribution) {
	r := p.Result
	var beside result.Probe
	if r.Probe != nil {
		beside = *r.Probe
	}
	for _, d := range []NamedDistribution{{"latency", "latency", r.Latency},
		{"service", "service time", r.Service}, {"error_latency", "error latency", r.ErrorLatency},
		{"iterations.time", "iteration", r.IterationTime()},
		{"iterations.failed_time", "failed iteration", r.FailedIterationTime()},
		{"phases.first_byte", "first byte", r.Phases.FirstByte},
		{"phases.connect", "connect", r.Phases.Connect}, {"phases.tls", "TLS", r.Phases.TLS},
		{"phases.dns", "DNS", r.Phases.DNS}, {"probe.latency", "probe latency", beside.Latency}} {
		if d.Distribution != nil && (d.Of != "service" || r.SentLater()) {
			all = append(all, d)
		}
	}
	return all
}

// spectraOf has one for each distribution.
func (p RunPayload) spectraOf() []spectrum {
	all := []spectrum{}
	for _, d := range p.Distributions() {
		all = append(all, spectrumOf(d.Of, d.Name, d.Distribution))
	}
	return all
}

func spectrumOf(of, name string, d *result.Distribution) spectrum {
	s := spectrum{Of: of, Name: name, Count: d.Count, Points: [][2]float64{}}
	switch h, err := metric.DecodeHDR(d.HDR); {
	case d.HDR == "":
		s.Why = "the result has no histogram of it"
	case err != nil:
		s.Why = "its histogram cannot be read: " + err.Error()
	case h.Count < 2*beyond:
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
