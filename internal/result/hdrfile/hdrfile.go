// Package hdrfile writes the latencies of a result as the files that HdrHistogram's tools read:
// .hgrm and .hlog.
package hdrfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dyno/internal/result"
)

// hgrmTicks is how many percentiles are written for each halving of the remaining distance to 100
// %, as in HdrHistogram's own tools.
const hgrmTicks = 5

// errNothing is the error of a file for a distribution that was not measured.
var errNothing = errors.New("nothing completed, so there is no latency to write")

// HGRM writes the percentiles of latency, in µs, in the format of HdrHistogram's plotters
// (.hgrm). The format cannot say that a request took longer than something: one that had no answer
// has the duration that it exceeded.
func HGRM(w io.Writer, r *result.Result) error {
	if r.Latency == nil {
		return errNothing
	}
	h, err := r.Latency.LowerBounds()
	if err != nil {
		return fmt.Errorf("decoding the histogram of latency: %w", err)
	}
	_, err = h.HDR().PercentilesPrint(w, hgrmTicks, 1e3)
	return err
}

// HLog writes the distributions of r as a HdrHistogram log, version 1.3 (.hlog). Each is one
// interval as long as the window. Latency has no tag, and the others have their names as tags.
// Values are in ns, as readers of the log expect.
func HLog(w io.Writer, r *result.Result) error {
	if r.Latency == nil && r.ErrorLatency == nil {
		return errNothing
	}
	log := hdrhistogram.NewHistogramLogWriter(w)
	from, to := r.Measured()
	begin, end := from.UnixMilli(), to.UnixMilli()
	err := errors.Join(log.OutputComment(fmt.Sprintf("[dyno %s, %s]", r.Dyno, r.ID)),
		log.OutputLogFormatVersion(), log.OutputStartTime(begin), log.OutputLegend())
	if err != nil {
		return err
	}
	for _, d := range []struct {
		tag string
		of  *result.Distribution
	}{{"", r.Latency}, {"service", r.ServiceApart()}, {"error_latency", r.ErrorLatency},
		{"iteration", r.IterationTime()},
		{"failed_iteration", r.FailedIterationTime()},
		{"first_byte", r.Phases.FirstByte}, {"connect", r.Phases.Connect}, {"tls", r.Phases.TLS},
		{"dns", r.Phases.DNS}} {
		if d.of == nil {
			continue
		}
		if over := d.of.Over; over != nil { // as in HGRM
			err = errors.Join(err, log.OutputComment(fmt.Sprintf("[%s: %d had no answer, and took longer "+
				"than what stands for each, at least %.0f ns]", cmp.Or(d.tag, "latency"), over.Count,
				over.US*1e3)))
		}
		h, err := d.of.LowerBounds()
		if err != nil {
			return fmt.Errorf("decoding the histogram of %s: %w", d.tag, err)
		}
		hdr := h.HDR()
		hdr.SetTag(d.tag)
		hdr.SetStartTimeMs(begin)
		hdr.SetEndTimeMs(end)
		if err := log.OutputIntervalHistogram(hdr); err != nil {
			return err
		}
	}
	return nil
}
