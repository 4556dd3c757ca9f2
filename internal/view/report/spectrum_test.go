package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"dyno/internal/engine/metric"
	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// stalled is a run of 90 s in which the server stalls for one in every twenty:
// latency is even up to a second then, and service time is not.
func stalled(t *testing.T) *result.Result {
	r := reporttest.Late()
	r.Window.MeasuredS, r.Series = 90, nil
	latency, service := metric.NewHistogram(metric.Fine), metric.NewHistogram(metric.Fine)
	for second := range 90 {
		part := metric.NewHistogram(metric.Fine)
		for i := range 1000 {
			v := int64(80e3 * math.Pow(10, float64(i%100)/200))
			service.Record(v)
			if second%20 == 19 {
				v += int64(i) * 1e6
			}
			part.Record(v)
		}
		latency.Merge(part)
		r.Series = append(r.Series, result.Point{T: float64(second + 1), Completed: 1000,
			Heat: part.ToSparse().ToHeat()})
	}
	r.Series = append(r.Series, result.Point{T: 90.00123})
	r.Latency, r.Service = distributionOf(latency), distributionOf(service)
	return r
}

func distributionOf(h *metric.Histogram) *result.Distribution {
	d := reporttest.Spread(h.Count, 120)
	d.Min, d.Max, d.Mean, d.HDR = float64(h.Min)/1e3, float64(h.Max)/1e3, h.Mean()/1e3, h.EncodeHDR()
	return d
}

func TestDetail(t *testing.T) {
	var b bytes.Buffer
	r := stalled(t)
	if err := Text(&b, r, format.Style{Detail: true}); err != nil {
		t.Fatal(err)
	}
	golden(t, "detail.text", reporttest.LayoutOf(b.Bytes(), phrasesOf(RunSentences(r))))
}

// What there is not enough of is left out, and what cannot be read is an error.
func TestDetailOfLittle(t *testing.T) {
	var detailed bytes.Buffer
	for _, r := range []*result.Result{reporttest.Unreachable(), unix(), interrupted()} {
		detailed.Reset()
		if err := Text(&detailed, r, format.Style{Detail: true}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(detailed.String(), "by percentile") || strings.Contains(detailed.String(), "over time") {
			t.Errorf("of %d exchanges there is\n%s", r.Requests.Completed, detailed.String())
		}
	}
	if err := Text(new(bytes.Buffer), reporttest.Closed(), format.Style{Detail: true}); err == nil {
		t.Error("a damaged histogram is no error")
	}
}

func TestPercentileNames(t *testing.T) {
	for oneIn, want := range map[float64]string{1: "p0", 2: "p50", 10: "p90", 100: "p99",
		1000: "p99.9", 1e5: "p99.999", 1e7: "p99.99999"} {
		if got := percentileName(oneIn); got != want {
			t.Errorf("1 in %v: %s, want %s", oneIn, got, want)
		}
	}
}
