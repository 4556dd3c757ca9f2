package report

import (
	"encoding/csv"
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

// CSV writes the series, a line for each second of the window, with the keys
// of the JSON as its head, with a scenario its iterations, and a column for each
// status code that a second had. Times of seconds in which nothing completed are empty.
func CSV(w io.Writer, r *result.Result) error {
	c := csv.NewWriter(w)
	head := []string{"t_s", "sent", "completed", "errors", "mean_us"}
	for _, p := range metric.Percentiles(new(loadresult.LatencyTimes)) {
		head = append(head, p.Key)
	}
	head = append(head, "max_us", "in_flight", "bytes_received", "bytes_sent")
	if r.Iterations != nil {
		head = append(head, "iterations", "iterations_failed")
	}
	if r.Plan.Ramps() {
		head = append(head, "users")
	}
	codes := secondsCodes(r.Series)
	for _, code := range codes {
		head = append(head, "status."+format.PlainLine(code))
	}
	if err := c.Write(head); err != nil {
		return err
	}
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, p := range r.Series {
		time := func(us float64) string {
			if p.Completed == 0 {
				return ""
			}
			return strconv.FormatFloat(us, 'f', -1, 64)
		}
		line := []string{strconv.FormatFloat(p.T, 'f', -1, 64), whole(p.Sent),
			whole(p.Completed), whole(p.Errors), time(p.Mean)}
		for _, q := range metric.Percentiles(&p.LatencyTimes) {
			line = append(line, time(*q.Value))
		}
		line = append(line, time(p.Max), whole(p.InFlight), whole(p.Received), whole(p.Written))
		if r.Iterations != nil {
			line = append(line, whole(p.Iterations), whole(p.IterationsFailed))
		}
		if r.Plan.Ramps() {
			line = append(line, strconv.Itoa(p.Users))
		}
		for _, code := range codes {
			line = append(line, whole(p.Status[code]))
		}
		if err := c.Write(line); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
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
