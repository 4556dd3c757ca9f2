package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// compareTruth adds by how much the tool's latencies differ from the true ones. These follow from
// the log of a server with one worker that serves first come, first served. The intended start
// times are the row's: evenly spaced, from the first request on. So the truth includes what a
// tool sent late, or did not send while it waited.
func (r reading) compareTruth(log string, l load) error {
	services, first, err := readServerLog(log)
	if err != nil {
		return err
	}
	due := l.rate * l.seconds
	if len(services) > due { // a tool may send one more at the end
		services = services[:due]
	}
	all := queueTimes(services, first, l.rate)
	r[truthMean], r[truthP50] = meanValue(all), percentile(all, 0.5)
	r[truthP99], r[truthP999] = percentile(all, 0.99), percentile(all, 0.999)
	for _, c := range []struct{ off, of, truth metric }{
		{meanOff, latencyMean, truthMean}, {p99Off, latencyP99, truthP99},
	} {
		if got, said := r[c.of]; said {
			r[c.off] = 100 * (got/r[c.truth] - 1)
		}
	}
	return nil
}

// compareLittle adds the mean latency that a closed load has by Little's law: the requests in
// flight divided by the server's rate. A tool that reports less leaves out a wait, or its
// connections idle.
func (r reading) compareLittle(l load) {
	if l.rate > 0 || l.close || r[rate] == 0 {
		return
	}
	r[truthMean] = 1e3 * float64(l.inFlight()) / r[rate]
	if got, said := r[latencyMean]; said {
		r[meanOff] = 100 * (got/r[truthMean] - 1)
	}
}

// readServerLog returns the service times in a target's log, in seconds and in the order in which
// they began, and when the first request arrived. The origin is the start of the first service.
func readServerLog(file string) (services []float64, first float64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, 0, fmt.Errorf("read the server's log: %w", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err == nil && len(rows) == 0 {
		err = errors.New("it is empty")
	}
	type service struct{ arrival, start, long int64 }
	var all []service
	for _, row := range rows {
		var s service
		for i, to := range []*int64{&s.arrival, &s.start, &s.long} {
			v, bad := strconv.ParseInt(row[i], 10, 64)
			err, *to = errors.Join(err, bad), v
		}
		all = append(all, s)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the server's log: %w", err)
	}
	slices.SortStableFunc(all, func(a, b service) int { return int(a.start - b.start) })
	for _, s := range all {
		services = append(services, float64(s.long)/1e9)
	}
	return services, float64(all[0].arrival-all[0].start) / 1e9, nil
}

// queueTimes returns the times from the intended start of requests to their answers, in ms and
// ascending (Lindley's recursion).
func queueTimes(services []float64, first float64, rate int) (all []float64) {
	free := first
	for i, s := range services {
		due := first + float64(i)/float64(rate)
		free = max(free, due) + s
		all = append(all, 1e3*(free-due))
	}
	slices.Sort(all)
	return all
}

func meanValue(all []float64) (m float64) {
	for _, v := range all {
		m += v / float64(len(all))
	}
	return m
}

// percentile returns the smallest value that a share of the ascending values does not exceed.
func percentile(all []float64, share float64) float64 {
	return all[max(int(share*float64(len(all))+0.5), 1)-1]
}
