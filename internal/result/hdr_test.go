package result_test

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dyno/internal/result"
	"dyno/internal/result/hdrfile"
)

// What HdrHistogram's own reader finds in the log is what was measured.
func TestHLog(t *testing.T) {
	r := result.FromRun(t, result.OpenRun())
	var b bytes.Buffer
	if err := hdrfile.HLog(&b, r); err != nil {
		t.Fatal(err)
	}
	reader := hdrhistogram.NewHistogramLogReader(&b)
	for _, want := range []struct {
		tag string
		of  *result.Distribution
	}{{"", r.Latency}, {"service", r.Service}, {"error_latency", r.ErrorLatency},
		{"first_byte", r.Phases.FirstByte}, {"connect", r.Phases.Connect}, {"dns", r.Phases.DNS}} {
		h, err := reader.NextIntervalHistogram()
		if err != nil || h == nil {
			t.Fatalf("%q: %v, %v", want.tag, h, err)
		}
		written, err := hdrhistogram.Decode([]byte(want.of.HDR))
		if err != nil {
			t.Fatal(err)
		}
		if over := want.of.Over; over != nil {
			written.RecordValues(int64(over.US*1e3), over.Count)
		}
		begin := time.Date(2026, 1, 2, 14, 4, 6, 0, time.UTC).UnixMilli()
		if h.Tag() != want.tag || !h.Equals(written) || h.StartTimeMs() != begin ||
			h.EndTimeMs() != begin+2000 {
			t.Errorf("%q: tag %q, %d values from %d to %d, same %v", want.tag, h.Tag(), h.TotalCount(),
				h.StartTimeMs(), h.EndTimeMs(), h.Equals(written))
		}
	}
	if h, err := reader.NextIntervalHistogram(); h != nil || err != nil {
		t.Errorf("one more: %v, %v", h, err)
	}
}

// Each line of the percentiles is a value, its percentile and how many it has, in
// order, to the last value.
func TestHGRM(t *testing.T) {
	r := result.FromRun(t, result.ClosedRun()) // 1 to 1,000 µs
	var b bytes.Buffer
	if err := hdrfile.HGRM(&b, r); err != nil {
		t.Fatal(err)
	}
	lines, last := 0, 0.0
	for s := bufio.NewScanner(&b); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") || strings.Contains(s.Text(), "Value") || s.Text() == "" {
			continue
		}
		var value, percentile float64
		var count int64
		var inverse string
		if _, err := fmt.Sscan(s.Text(), &value, &percentile, &count, &inverse); err != nil {
			t.Fatalf("%q: %v", s.Text(), err)
		}
		if value < last || float64(count) < value*0.998 || float64(count) > value*1.002 {
			t.Errorf("%d values up to %v µs, after %v", count, value, last)
		}
		lines, last = lines+1, value
	}
	if lines < 30 || last < 999 || last > 1001 {
		t.Errorf("%d lines up to %v µs", lines, last)
	}
}

func TestNoHistogramToWrite(t *testing.T) {
	empty, damaged := result.FromRun(t, result.ClosedRun()), result.FromRun(t, result.ClosedRun())
	empty.Latency, empty.ErrorLatency = nil, nil
	damaged.Latency.HDR = "HISTFAAA"
	for _, r := range []*result.Result{empty, damaged} {
		if err := hdrfile.HGRM(new(bytes.Buffer), r); err == nil {
			t.Error("percentiles of nothing")
		}
		if err := hdrfile.HLog(new(bytes.Buffer), r); err == nil {
			t.Error("a log of nothing")
		}
	}
	if _, _, err := damaged.Latency.Quantiles([]float64{0.5}); err == nil {
		t.Error("quantiles of nothing")
	}
	got, _, err := result.FromRun(t, result.ClosedRun()).Latency.Quantiles([]float64{0, 0.5, 1})
	if err != nil || got[0] != 1 || got[1] < 499 || got[1] > 501 || got[2] != 1000 {
		t.Errorf("quantiles %v, %v", got, err)
	}
}

// So are the latencies of errors, if every answer was one.
func TestHLogOfErrors(t *testing.T) {
	var b bytes.Buffer
	err := hdrfile.HLog(&b, result.FromRun(t, result.FailingRun(0)))
	if err != nil || !strings.Contains(b.String(), "Tag=error_latency,") {
		t.Errorf("%v: %s", err, b.String())
	}
}

// Times of iterations are in the log, too.
func TestHLogOfUsers(t *testing.T) {
	var b bytes.Buffer
	if err := hdrfile.HLog(&b, result.FromRun(t, result.ScenarioRun(false))); err != nil {
		t.Fatal(err)
	}
	reader := hdrhistogram.NewHistogramLogReader(&b)
	counts := map[string]int64{}
	for h, err := reader.NextIntervalHistogram(); h != nil; h, err = reader.NextIntervalHistogram() {
		if err != nil {
			t.Fatal(err)
		}
		counts[h.Tag()] = h.TotalCount()
	}
	if counts["iteration"] != 502 || // two had not ended
		counts["failed_iteration"] != 3 {
		t.Errorf("%v", counts)
	}
}
