// Package live shows a run to programs while it runs: as metrics that Prometheus reads, as lines of
// JSON on a pipe, and as a line for each request. The first two are fed by the intervals that a
// load publishes once a second, in the goroutine that shows them, so that no thread of the load
// does anything for them.
//
//	endpoint.go     the server that Prometheus asks (--metrics)
//	live.go         failures and checks, as both have them
//	metrics.go      the metrics for Prometheus
//	requestlog.go   the lines of --log, one for each request
//	stream.go       the lines of --json-stream, one for each second
package live

import (
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
	"dyno/internal/result"
)

// checkCounts are outcomes of the checks of p by their names, in its order. Several of one name are
// put together. As a result, it has dyno's own only if they failed.
func checkCounts(p *loadplan.Plan, all []metric.Outcomes) (counts []result.CheckCount) {
	places := map[string]int{}
	for i, c := range all {
		if i == len(p.Checks) {
			break
		}
		if !p.ShowsCheck(i, c.Failed) {
			continue
		}
		name := readable(p.Checks[i]) // two that differ in unreadable bytes only are one series
		at, seen := places[name]
		if !seen {
			at, counts = len(counts), append(counts, result.CheckCount{Name: name})
			places[name] = at
		}
		counts[at].Passed += c.Passed
		counts[at].Failed += c.Failed
	}
	return counts
}
