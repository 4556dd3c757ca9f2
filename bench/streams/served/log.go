package served

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// A Stream is one of a log. Instants are nanoseconds of one clock.
type Stream struct {
	Number  int64 // of the request
	Arrived int64
	Events  []int64 // when each was written, or read
	Late    []int64 // by how much each was written later than the law wants; nil: unknown
}

// A Log is what was served, in the order of arrival.
type Log []Stream

// Write writes a line for each event, as dyno target does: stream, arrival_ns, event, event_ns.
// late_ns follows.
func (l Log) Write(w io.Writer) error {
	out := csv.NewWriter(w)
	for _, s := range l {
		for i, at := range s.Events {
			out.Write([]string{strconv.FormatInt(s.Number, 10), strconv.FormatInt(s.Arrived, 10),
				strconv.Itoa(i + 1), strconv.FormatInt(at, 10), strconv.FormatInt(s.Late[i], 10)})
		}
	}
	out.Flush()
	return out.Error()
}

// Read reads a log. The lines of a stream are in the order of its events, and late_ns may be left
// out.
func Read(r io.Reader) (Log, error) {
	rows := csv.NewReader(r)
	var all Log
	at := map[int64]int{} // of a stream's number, its place
	for line := 1; ; line++ {
		row, err := rows.Read()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		var n [5]int64
		for i, field := range row[:min(len(row), len(n))] {
			if n[i], err = strconv.ParseInt(field, 10, 64); err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
		}
		i, known := at[n[0]]
		if !known {
			i = len(all)
			at[n[0]] = i
			all = append(all, Stream{Number: n[0], Arrived: n[1]})
		}
		s := &all[i]
		if s.Events = append(s.Events, n[3]); len(row) < 4 || n[2] != int64(len(s.Events)) {
			return nil, fmt.Errorf("line %d: %q is not of event %d", line, row, len(s.Events))
		}
		if len(row) > 4 {
			s.Late = append(s.Late, n[4])
		}
	}
	slices.SortStableFunc(all, func(a, b Stream) int { return int(a.Arrived - b.Arrived) })
	return all, nil
}

// Times are durations in ms, in ascending order.
type Times []float64

func timesOf(ns []int64) Times {
	all := make(Times, len(ns))
	for i, t := range ns {
		all[i] = float64(t) / 1e6
	}
	slices.Sort(all)
	return all
}

// At is the percentile, with the rank that HdrHistogram takes; NaN if there are no times.
func (t Times) At(percent float64) float64 {
	if len(t) == 0 {
		return math.NaN()
	}
	return t[min(max(int(percent/100*float64(len(t))+0.5), 1), len(t))-1]
}

// Sent are the times from the arrival of a request to its first event.
func (l Log) Sent() Times {
	var all []int64
	for _, s := range l {
		all = append(all, s.Events[0]-s.Arrived)
	}
	return timesOf(all)
}

// Due are the times from when requests were due to their first events. Request n was due at
// due[n-1], in ns after an unknown instant. As that it takes the latest possible: one request came
// when it was due, and none before.
func (l Log) Due(due []int64) (Times, error) {
	start := int64(math.MaxInt64)
	for _, s := range l {
		if s.Number < 1 || s.Number > int64(len(due)) {
			return nil, fmt.Errorf("stream %d is none of %d", s.Number, len(due))
		}
		start = min(start, s.Arrived-due[s.Number-1])
	}
	var all []int64
	for _, s := range l {
		all = append(all, s.Events[0]-start-due[s.Number-1])
	}
	return timesOf(all), nil
}

// Gaps are the times between two events. Events of one instant came together, and have none.
func (l Log) Gaps() Times {
	var all []int64
	for _, s := range l {
		for i, at := range s.Events[1:] {
			if at > s.Events[i] {
				all = append(all, at-s.Events[i])
			}
		}
	}
	return timesOf(all)
}

// Late are the times by which events were written later than the law wants.
func (l Log) Late() Times {
	var all []int64
	for _, s := range l {
		all = append(all, s.Late...)
	}
	return timesOf(all)
}
