package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/result"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
	"dyno/internal/view/repeat"
)

// JSON writes the result as it is stored: format dyno.result/1, indented, keys
// in a fixed order.
func JSON(w io.Writer, r *result.Result) error { return result.Encode(w, r) }

// CSV writes the series, a line for each second of the window, with the keys of the JSON as its
// head: with a scenario its iterations, of streams their events and times, and a column for each
// status code that a second had. A time is empty where nothing completed, began or had a gap.
func CSV(w io.Writer, r *result.Result) error {
	c := csv.NewWriter(w)
	all := columnsOf(r)
	line := make([]string, len(all))
	for i, k := range all {
		line[i] = k.head
	}
	err := c.Write(line)
	for at := range r.Series {
		for i, k := range all {
			line[i] = k.cell(&r.Series[at])
		}
		err = errors.Join(err, c.Write(line))
	}
	c.Flush()
	return errors.Join(err, c.Error())
}

// A column is a number that each second has.
type column struct {
	head string
	cell func(*result.Point) string
}

// columnsOf are those of the CSV of a result.
func columnsOf(r *result.Result) (all []column) {
	add := func(is bool, head string, cell func(*result.Point) string) {
		if is {
			all = append(all, column{head, cell})
		}
	}
	whole := func(is bool, head string, of func(*result.Point) int64) {
		add(is, head, func(p *result.Point) string { return strconv.FormatInt(of(p), 10) })
	}
	add(true, "t_s", func(p *result.Point) string { return strconv.FormatFloat(p.T, 'f', -1, 64) })
	whole(true, "sent", func(p *result.Point) int64 { return p.Sent })
	whole(true, "completed", func(p *result.Point) int64 { return p.Completed })
	whole(true, "errors", func(p *result.Point) int64 { return p.Errors })
	add(true, "mean_us", func(p *result.Point) string { return timeCell(p.Mean) })
	for i, q := range metric.Percentiles(new(loadresult.LatencyTimes)) {
		add(true, q.Key, func(p *result.Point) string {
			return timeCell(*metric.Percentiles(&p.LatencyTimes)[i].Value)
		})
	}
	add(true, "max_us", func(p *result.Point) string { return timeCell(p.Max) })
	whole(true, "in_flight", func(p *result.Point) int64 { return p.InFlight })
	whole(true, "bytes_received", func(p *result.Point) int64 { return p.Received })
	whole(true, "bytes_sent", func(p *result.Point) int64 { return p.Written })
	iterates, streams := r.Iterations != nil, r.Stream != nil
	whole(iterates, "iterations", func(p *result.Point) int64 { return p.Iterations })
	whole(iterates, "iterations_failed", func(p *result.Point) int64 { return p.IterationsFailed })
	whole(streams, "events", func(p *result.Point) int64 { return p.Events })
	for i, q := range metric.Percentiles(new(loadresult.StreamTimes)) {
		add(streams, q.Key, func(p *result.Point) string {
			return timeCell(*metric.Percentiles(&p.StreamTimes)[i].Value)
		})
	}
	whole(streams, "tokens", func(p *result.Point) int64 { return p.Tokens })
	whole(r.Plan.Ramps(), "users", func(p *result.Point) int64 { return int64(p.Users) })
	for _, code := range secondsCodes(r.Series) {
		whole(true, "status."+format.PlainLine(code), func(p *result.Point) int64 {
			return p.Status[code]
		})
	}
	return all
}

// timeCell is a time in µs; 0 is none.
func timeCell(us float64) string {
	if us == 0 {
		return ""
	}
	return strconv.FormatFloat(us, 'f', -1, 64)
}

// secondsCodes are the status codes that seconds of a series had, ascending.
func secondsCodes(series []result.Point) []string {
	all := map[string]bool{}
	for _, p := range series {
		for code := range p.Status {
			all[code] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Brief writes the answer of a run as Markdown to paste: what was found, what speaks against it,
// and the command.
func Brief(w io.Writer, r *result.Result) error {
	command, _ := repeat.Run(r)
	_, err := io.WriteString(w, RunAnswer(r).Markdown(command, answer.Limits{}))
	return err
}

// Machine is the host in a line.
func Machine(h result.Host) string {
	s := fmt.Sprintf("%s/%s, %s", format.PlainLine(h.OS), format.PlainLine(h.Arch),
		format.Plural(int64(h.CPUs), "CPU"))
	for _, more := range []string{h.CPU, h.Kernel, h.Go} {
		if more != "" {
			s += ", " + format.PlainLine(more)
		}
	}
	return s
}
