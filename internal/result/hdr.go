package result

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// hgrmTicks is how many percentiles are written for each halving of the remaining distance to 100
// %, as in HdrHistogram's own tools.
const hgrmTicks = 5

// errNothing is the error of a file for a distribution that was not measured.
var errNothing = errors.New("nothing completed, so there is no latency to write")

// EncodeHGRM writes the percentiles of latency, in µs, in the format of HdrHistogram's plotters
// (.hgrm). The format cannot say that a request took longer than something: one that had no answer
// has the duration that it exceeded.
func EncodeHGRM(w io.Writer, r *Result) error {
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

// EncodeHLog writes the distributions of r as a HdrHistogram log, version 1.3 (.hlog). Each is one
// interval as long as the window. Latency has no tag, and the others have their names as tags.
// Values are in ns, as readers of the log expect.
func EncodeHLog(w io.Writer, r *Result) error {
	if r.mainLatency() == nil {
		return errNothing
	}
	log := hdrhistogram.NewHistogramLogWriter(w)
	begin := r.windowBegin().UnixMilli()
	length := int64(r.Window.MeasuredS * 1e3)
	err := errors.Join(log.OutputComment(fmt.Sprintf("[dyno %s, %s]", r.Dyno, r.ID)),
		log.OutputLogFormatVersion(), log.OutputStartTime(begin), log.OutputLegend())
	if err != nil {
		return err
	}
	for _, d := range []struct {
		tag string
		of  *Distribution
	}{{"", r.Latency}, {"service", r.serviceApart()}, {"error_latency", r.ErrorLatency},
		{"iteration", r.IterationTime()},
		{"failed_iteration", r.FailedIterationTime()},
		{"first_byte", r.Phases.FirstByte}, {"connect", r.Phases.Connect}, {"tls", r.Phases.TLS},
		{"dns", r.Phases.DNS}} {
		if d.of == nil {
			continue
		}
		if over := d.of.Over; over != nil { // as in EncodeHGRM
			err = errors.Join(err, log.OutputComment(fmt.Sprintf("[%s: %d had no answer, and took longer "+
				"than the %.0f ns that stand for each]", cmp.Or(d.tag, "latency"), over.Count, over.US*1e3)))
		}
		h, err := d.of.LowerBounds()
		if err != nil {
			return fmt.Errorf("decoding the histogram of %s: %w", d.tag, err)
		}
		hdr := h.HDR()
		hdr.SetTag(d.tag)
		hdr.SetStartTimeMs(begin)
		hdr.SetEndTimeMs(begin + length)
		if err := log.OutputIntervalHistogram(hdr); err != nil {
			return err
		}
	}
	return nil
}

// serviceApart is service time if it differs from latency.
func (r *Result) serviceApart() *Distribution {
	if !r.SentLater() {
		return nil
	}
	return r.Service
}
