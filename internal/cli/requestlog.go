package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"dyno/internal/atomicfile"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/reqlog"
	"dyno/internal/fault"
	"dyno/internal/view/format"
	"dyno/internal/view/live"
)

// A requestLog is the file of --log while the load runs. Threads add lines to rings, and a
// goroutine writes them. A nil one is that of a run without --log.
type requestLog struct {
	name string
	file *os.File
	from *reqlog.Log
	to   *live.RequestLog

	end, ended chan struct{}
	lost       int64
	took       time.Duration // of writing
	close      func() error
}

// logEvery is between two looks at the rings: one holds what a thread adds in that time at more
// than a million requests a second.
const logEvery = 20 * time.Millisecond

// setLog sets the file of --log.
func (f *runFlags) setLog(name string) error {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv", ".ndjson", ".jsonl":
		f.log = name
		return nil
	}
	return fmt.Errorf("%q does not end in .csv, .ndjson or .jsonl", name)
}

// setLogShare sets the share of --log-sample.
func (f *runFlags) setLogShare(s string) error {
	number, isPercent := strings.CutSuffix(s, "%")
	percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !isPercent || !(percent > 0 && percent <= 100) {
		return fmt.Errorf("%q is not a percentage above 0%% and up to 100%%; write one as 1%%", s)
	}
	f.logShare = percent / 100
	return nil
}

// openLog makes the file of --log, and has the plan's threads write to it.
func (f *runFlags) openLog() (*requestLog, error) {
	if f.log == "" {
		return nil, nil
	}
	file, err := atomicfile.OpenStraight(f.log, os.O_TRUNC, 0o666)
	if err != nil {
		return nil, loadplan.Flaw{Setting: "--log", Problem: fault.Text(err)}
	}
	l := &requestLog{name: f.log, file: file, from: reqlog.New(f.logShare),
		to:  live.NewRequestLog(file, !strings.EqualFold(filepath.Ext(f.log), ".csv")),
		end: make(chan struct{}), ended: make(chan struct{})}
	f.plan.Log = l.from.Ring
	go l.writeLines()
	l.close = sync.OnceValue(func() error {
		close(l.end)
		<-l.ended
		return errors.Join(l.to.Flush(), file.Close())
	})
	return l, nil
}

func (l *requestLog) writeLines() {
	defer close(l.ended)
	tick := time.NewTicker(logEvery)
	defer tick.Stop()
	for more := true; more; {
		select {
		case <-tick.C:
		case <-l.end:
			more = false // but for what is there now
		}
		began := time.Now()
		l.lost = l.from.Drain(l.to.Add)
		l.took += time.Since(began)
	}
}

// endLog writes what is left and says what was written, what was lost, and what it cost.
// It reports whether that succeeded.
func (s streams) endLog(l *requestLog, quiet bool) bool {
	if l == nil {
		return true
	}
	if err := l.close(); err != nil {
		s.writeLine("dyno: writing --log: %v", err)
		return false
	}
	if quiet && l.lost == 0 {
		return true
	}
	text := fmt.Sprintf("dyno: %s in %s; writing took %s", format.Plural(l.to.Lines, "line"),
		l.name, format.Seconds(l.took.Seconds()))
	if l.lost > 0 {
		text += fmt.Sprintf("; %s LOST, for it could not keep up: --log-sample 1%% takes one in 100",
			format.Plural(l.lost, "line"))
	}
	s.writeLine("%s", text)
	return true
}
