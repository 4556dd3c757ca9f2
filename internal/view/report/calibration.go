package report

import (
	"fmt"
	"io"
	"strings"

	"dyno/internal/capacity"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
)

// Calibration writes what the generator can do.
func Calibration(w io.Writer, c *capacity.Calibration) error {
	where := "on CPUs of its own"
	if !c.Apart {
		where = "on the same CPUs"
	}
	closed := document.Part{Sides: "r", Table: format.Table{
		{"connections", "ring", "requests/s", "CPU/request", "busy", "p50", "p99"}}}
	for _, l := range c.Closed {
		closed.Table = append(closed.Table, []string{format.Count(int64(l.Connections)),
			format.PlainLine(l.Ring), format.Digits3(l.Rate), format.Micros(l.CPU),
			format.Percent(l.Busy), format.Micros(l.P50), format.Micros(l.P99)})
	}
	open := document.Part{Sides: "r", Table: format.Table{
		{"rate", "sent", "send lag p99", "max", "verdict"}}}
	for _, p := range c.Open {
		open.Table = append(open.Table, []string{format.Exact3(p.Rate), format.Digits3(p.Sent),
			format.Micros(p.LagP99), format.Micros(p.LagMax), format.PlainLine(p.Verdict)})
	}
	title := fmt.Sprintf("dyno %s on %s, %s; the server %s", format.PlainLine(c.Dyno), Machine(c.Host),
		format.Plural(int64(c.Threads), "thread"), where)
	return document.Doc{Title: title, Parts: []document.Part{closed, ringCosts(c),
		{Text: disturbedTexts(c)}, open}}.WriteText(w, format.Style{})
}

// ringCosts are what a request took on each ring, where there was one to choose.
func ringCosts(c *capacity.Calibration) document.Part {
	t := format.Table{{"connections", "CPU on epoll", "on uring", "--ring auto takes"}}
	for _, level := range c.Closed {
		cost := map[string]string{}
		for _, l := range c.Rings {
			if l.Connections == level.Connections {
				cost[l.Ring] = format.Micros(l.CPU)
			}
		}
		if len(cost) < 2 {
			continue
		}
		t = append(t, []string{format.Count(int64(level.Connections)), cost["epoll"], cost["uring"],
			format.PlainLine(c.Auto(level.Connections))})
	}
	if len(t) == 1 {
		t = nil
	}
	return document.Part{Table: t, Sides: "r"}
}

// disturbedTexts say with how many connections other programs ran on the generator's CPUs, and
// what is not taken from there.
func disturbedTexts(c *capacity.Calibration) []string {
	var some, all []string
	for _, level := range c.Closed {
		if c.Disturbed(level.Connections) {
			some = append(some, format.Count(int64(level.Connections)))
		}
		if c.Doubtful(level.Connections) {
			all = append(all, format.Count(int64(level.Connections)))
		}
	}
	if len(some) == 0 {
		return nil
	}
	s := "disturbed with " + strings.Join(some, ", ") + " connections: calibrate again when nothing " +
		"else runs; until then that decides nothing for --ring auto"
	if len(all) > 0 {
		s += ", and dyno run warns of no ceiling with " + strings.Join(all, ", ")
	}
	return []string{s}
}
