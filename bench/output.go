package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// dynoResult is what bench takes from a dyno.result/1. What may be absent is a pointer.
type dynoResult struct {
	Format   string `json:"format"`
	Requests struct {
		Sent *float64 `json:"sent"`
	} `json:"requests"`
	Errors []struct {
		Count float64 `json:"count"`
	} `json:"errors"`
	Latency struct {
		Mean *float64 `json:"mean_us"`
		P50  *float64 `json:"p50_us"`
		P99  *float64 `json:"p99_us"`
		P999 *float64 `json:"p99_9_us"`
	} `json:"latency"`
	Service struct {
		Mean *float64 `json:"mean_us"`
	} `json:"service"`
	Connections struct {
		Served *float64 `json:"served"`
	} `json:"connections"`
	Generator struct {
		LagP50  *float64 `json:"send_lag_p50_us"`
		LagP99  *float64 `json:"send_lag_p99_us"`
		LagP999 *float64 `json:"send_lag_p99_9_us"`
		LagMax  *float64 `json:"send_lag_max_us"`
	} `json:"generator"`
}

func parseDynoResult(output []byte) (reading, error) {
	var v dynoResult
	if err := json.Unmarshal(output, &v); err != nil {
		return nil, fmt.Errorf("dyno's --json: %w", err)
	}
	if v.Format != "dyno.result/1" {
		return nil, fmt.Errorf("dyno's --json: format %q, want dyno.result/1", v.Format)
	}
	r := reading{failed: 0}
	for _, e := range v.Errors {
		r[failed] += e.Count
	}
	r.setScaled(sent, v.Requests.Sent, 1)
	r.setScaled(connServed, v.Connections.Served, 1)
	r.setScaled(lagP50, v.Generator.LagP50, 1)
	r.setScaled(lagP99, v.Generator.LagP99, 1)
	r.setScaled(lagP999, v.Generator.LagP999, 1)
	r.setScaled(lagMax, v.Generator.LagMax, 1)
	r.setLatencies(v.Latency.Mean, v.Latency.P50, v.Latency.P99, v.Latency.P999, 1e-3)
	r.setScaled(serviceMean, v.Service.Mean, 1e-3)
	return r, nil
}

func (r reading) setScaled(m metric, v *float64, scale float64) {
	if v != nil {
		r[m] = *v * scale
	}
}

// setLatencies sets what a tool reports of latency, in units that are scaled to ms.
func (r reading) setLatencies(mean, p50, p99, p999 *float64, scale float64) {
	r.setScaled(latencyMean, mean, scale)
	r.setScaled(latencyP50, p50, scale)
	r.setScaled(latencyP99, p99, scale)
	r.setScaled(latencyP999, p999, scale)
}

func parsePacerResult(output []byte) (reading, error) {
	var v struct {
		Sent        *float64 `json:"sent"`
		Completed   float64  `json:"completed"`
		LagP50      *float64 `json:"lag_p50_us"`
		LagP99      *float64 `json:"lag_p99_us"`
		LagP999     *float64 `json:"lag_p99_9_us"`
		LagMax      *float64 `json:"lag_max_us"`
		LatencyMean *float64 `json:"latency_mean_us"`
		LatencyP50  *float64 `json:"latency_p50_us"`
		LatencyP99  *float64 `json:"latency_p99_us"`
		LatencyP999 *float64 `json:"latency_p99_9_us"`
		ServiceMean *float64 `json:"service_mean_us"`
	}
	if err := json.Unmarshal(output, &v); err != nil {
		return nil, fmt.Errorf("the pacer's output: %w", err)
	}
	if v.Sent == nil {
		return nil, errors.New("the pacer's output does not say how many were sent")
	}
	r := reading{failed: *v.Sent - v.Completed}
	r.setScaled(sent, v.Sent, 1)
	r.setScaled(lagP50, v.LagP50, 1)
	r.setScaled(lagP99, v.LagP99, 1)
	r.setScaled(lagP999, v.LagP999, 1)
	r.setScaled(lagMax, v.LagMax, 1)
	r.setLatencies(v.LatencyMean, v.LatencyP50, v.LatencyP99, v.LatencyP999, 1e-3)
	r.setScaled(serviceMean, v.ServiceMean, 1e-3)
	return r, nil
}

// parseBareResult checks that it was the load that ended, and takes nothing.
func parseBareResult(output []byte) (reading, error) {
	var v struct {
		Completed float64 `json:"completed"`
	}
	if err := json.Unmarshal(output, &v); err != nil {
		return nil, fmt.Errorf("the bare generator's output: %w", err)
	}
	return reading{failed: 0}, nil
}

var (
	wrkDone    = regexp.MustCompile(`(?m)^ *\d+ requests in `)
	wrkLatency = map[metric]*regexp.Regexp{
		latencyMean: regexp.MustCompile(`(?m)^ +Latency +([\d.]+(?:us|ms|s|m|h)) `),
		latencyP50:  regexp.MustCompile(`(?m)^ +50(?:\.000)?% +([\d.]+(?:us|ms|s|m|h))\r?$`),
		latencyP99:  regexp.MustCompile(`(?m)^ +99(?:\.000)?% +([\d.]+(?:us|ms|s|m|h))\r?$`),
		latencyP999: regexp.MustCompile(`(?m)^ +99\.900% +([\d.]+(?:us|ms|s|m|h))\r?$`),
	}
	wrkSockets = regexp.MustCompile(
		`(?m)^ +Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
	wrkStatus = regexp.MustCompile(`(?m)^ +Non-2xx or 3xx responses: (\d+)`)
)

// parseWrkOutput reads what wrk and wrk2 print.
func parseWrkOutput(output []byte) (reading, error) {
	if !wrkDone.Match(output) {
		return nil, fmt.Errorf("wrk's output has no total: %s", firstLine(output))
	}
	r := reading{failed: sumMatches(wrkSockets, output) + sumMatches(wrkStatus, output)}
	for m, pattern := range wrkLatency {
		found := pattern.FindSubmatch(output)
		if found == nil {
			continue
		}
		d, err := time.ParseDuration(string(found[1]))
		if err != nil {
			return nil, fmt.Errorf("wrk's latency: %w", err)
		}
		r[m] = d.Seconds() * 1e3
	}
	return r, nil
}

var (
	abDone   = regexp.MustCompile(`(?m)^Complete requests: +\d+`)
	abFailed = regexp.MustCompile(`(?m)^Failed requests: +(\d+)`)
	abStatus = regexp.MustCompile(`(?m)^Non-2xx responses: +(\d+)`)
)

// parseABOutput may count a response twice: as one of another length and one of another status.
func parseABOutput(output []byte) (reading, error) {
	if !abDone.Match(output) {
		return nil, fmt.Errorf("ab's output has no total: %s", firstLine(output))
	}
	return reading{failed: sumMatches(abFailed, output) + sumMatches(abStatus, output)}, nil
}

var (
	heyDone    = regexp.MustCompile(`(?m)^ +Requests/sec:`)
	heyLatency = map[metric]*regexp.Regexp{
		latencyMean: regexp.MustCompile(`(?m)^ +Average:\t([\d.]+) secs`),
		latencyP50:  regexp.MustCompile(`(?m)^ +50% in ([\d.]+) secs`),
		latencyP99:  regexp.MustCompile(`(?m)^ +99% in ([\d.]+) secs`),
	}
	heyErrors = regexp.MustCompile(`(?m)^ +\[(\d+)\]\t[^\d\s]`) // no status: a message
)

// parseHeyOutput reads what hey prints.
func parseHeyOutput(output []byte) (reading, error) {
	if !heyDone.Match(output) {
		return nil, fmt.Errorf("hey's output has no total: %s", firstLine(output))
	}
	r := reading{failed: sumMatches(heyErrors, output)}
	for m, pattern := range heyLatency {
		if pattern.Match(output) {
			r[m] = 1e3 * sumMatches(pattern, output)
		}
	}
	return r, nil
}

var (
	h2loadTotals = regexp.MustCompile(`(?m)^requests: \d+ total, \d+ started, \d+ done, ` +
		`\d+ succeeded, (\d+) failed, `)
	h2loadLog = regexp.MustCompile(`(?m)^\d+\t\d+\t(\d{1,15})$`) // start, status, µs of a request
)

// parseH2loadOutput takes failed: errored and timeout are parts of it. h2load knows no
// percentiles: they are had from its log, where it writes one.
func parseH2loadOutput(output []byte) (reading, error) {
	if !h2loadTotals.Match(output) {
		return nil, fmt.Errorf("h2load's output has no total: %s", firstLine(output))
	}
	r := reading{failed: sumMatches(h2loadTotals, output)}
	var all []float64
	for _, line := range h2loadLog.FindAllSubmatch(output, -1) {
		us, _ := strconv.ParseFloat(string(line[1]), 64) // digits only: it cannot fail
		all = append(all, us/1e3)
	}
	if len(all) > 0 {
		slices.Sort(all)
		r[latencyMean], r[latencyP50] = meanValue(all), percentile(all, 0.5)
		r[latencyP99], r[latencyP999] = percentile(all, 0.99), percentile(all, 0.999)
	}
	return r, nil
}

// parseGcannonOutput reads gcannon's --json.
func parseGcannonOutput(output []byte) (reading, error) {
	var v struct {
		Responses *float64 `json:"responses"`
		Latency   struct {
			Mean *float64 `json:"avg"`
			P50  *float64 `json:"p50"`
			P99  *float64 `json:"p99"`
			P999 *float64 `json:"p999"`
		} `json:"latency_us"`
		Errors map[string]float64 `json:"errors"`
	}
	if err := json.Unmarshal(output, &v); err != nil || v.Responses == nil {
		return nil, fmt.Errorf("gcannon's --json has no responses: %w", cmp.Or(err, errIncomplete))
	}
	r := reading{failed: 0}
	for _, n := range v.Errors {
		r[failed] += n
	}
	r.setLatencies(v.Latency.Mean, v.Latency.P50, v.Latency.P99, v.Latency.P999, 1e-3)
	return r, nil
}

// parseShbOutput reads shb's --json.
func parseShbOutput(output []byte) (reading, error) {
	var v struct {
		Requests struct {
			OK     *float64 `json:"ok"`
			Errors float64  `json:"errors"`
		} `json:"requests"`
		Latency struct {
			Mean        *float64            `json:"mean"`
			Percentiles map[string]*float64 `json:"percentiles"`
		} `json:"latencySeconds"`
	}
	if err := json.Unmarshal(output, &v); err != nil || v.Requests.OK == nil {
		return nil, fmt.Errorf("shb's --json has no requests: %w", cmp.Or(err, errIncomplete))
	}
	r := reading{failed: v.Requests.Errors}
	r.setLatencies(v.Latency.Mean, v.Latency.Percentiles["p50"], v.Latency.Percentiles["p99"],
		v.Latency.Percentiles["p99.9"], 1e3)
	return r, nil
}

var errIncomplete = errors.New("it is incomplete")

// sumMatches adds the numbers that the pattern finds first; none is 0.
func sumMatches(pattern *regexp.Regexp, output []byte) float64 {
	total := 0.0
	if found := pattern.FindSubmatch(output); found != nil {
		for _, digits := range found[1:] {
			v, err := strconv.ParseFloat(string(digits), 64)
			if err == nil { // digits only: it cannot fail but for size
				total += v
			}
		}
	}
	return total
}

// firstLine is the first line that is not empty, cut to what fits an error.
func firstLine(output []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(output), []byte("\n"))
	return string(bytes.TrimSpace(line[:min(len(line), 200)]))
}
