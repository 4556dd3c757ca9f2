package cli

import (
	"context"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fault"
	"dyno/internal/result"
	"dyno/internal/result/plansecrets"
	"dyno/internal/view/live"
)

// liveOutputs are what programs read of a run while it runs: --metrics and --json-stream.
type liveOutputs struct {
	metrics *live.Endpoint // nil: none
	stream  *live.Stream   // nil: none
	ended   bool           // there is a result
}

// openLive begins the live outputs that the flags ask for.
func (s streams) openLive(f *runFlags) (err error) {
	if !f.jsonStream && f.metrics == "" {
		return nil
	}
	plan := plansecrets.Stored(f.plan, f.planReplacer())
	if f.jsonStream {
		f.live.stream = live.NewStream(s.out, plan)
	}
	if f.metrics == "" {
		return nil
	}
	f.live.metrics, err = live.Listen(f.metrics, live.NewMetrics(plan, loadplan.Version))
	if err != nil {
		return loadplan.Flaw{Setting: "--metrics", Problem: fault.Text(err)}
	}
	if !f.quiet {
		s.writeLine("dyno: metrics at %s", f.live.metrics.URL())
	}
	return nil
}

// watchServer has the metrics tell what the watched server uses while it is loaded.
func (o liveOutputs) watchServer(w watch) {
	if o.metrics != nil && w.server {
		o.metrics.Watch(w.sampler.Readings)
	}
}

// publishInterval gives an interval to those who read.
func (o liveOutputs) publishInterval(iv loadresult.Interval) {
	if o.metrics != nil {
		o.metrics.Add(iv)
	}
	if o.stream != nil {
		o.stream.Add(iv)
	}
}

// endStream writes the result, the last line of a stream.
func (o liveOutputs) endStream(r *result.Result) error {
	if o.stream == nil {
		return nil
	}
	return o.stream.End(r)
}

// endMetrics waits until the final totals have been read, if anybody reads, and ends the server.
func (s streams) endMetrics(ctx context.Context, f *runFlags) {
	m := f.live.metrics
	if m == nil {
		return
	}
	if f.live.ended && m.Finish() && ctx.Err() == nil {
		if !f.quiet {
			s.writeLine("dyno: the metrics stay until they are read once more, for %v at most; "+
				"Ctrl-C ends that", live.LastRead)
		}
		m.Wait(ctx)
	}
	if err := m.Close(); err != nil {
		s.writeLine("dyno: --metrics: %v", err)
	}
}
