package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"dyno/internal/engine/loadplan"
)

// addStage adds the stage of a --stage: D:RATE, or D:Nusers.
func (f *runFlags) addStage(s string) error {
	length, goal, found := strings.Cut(s, ":")
	if !found {
		return fmt.Errorf("%q is not a stage; write DURATION:RATE, as 30s:2000, or DURATION:Nusers, as "+
			"30s:200users", s)
	}
	d, err := parseDuration(length)
	if err != nil {
		return err
	}
	if number, is := cutUsers(goal); is {
		n, err := parseInt(number)
		if n < 0 {
			err = fmt.Errorf("%q is negative", goal)
		}
		if err == nil {
			f.plan.UserStages = append(f.plan.UserStages,
				loadplan.UserStage{Duration: loadplan.Seconds(d), Users: n})
		}
		return err
	}
	stage := loadplan.Stage{Duration: loadplan.Seconds(d)}
	if strings.TrimSuffix(goal, "/s") != "0" {
		if stage.Rate, err = parseRate(goal); err != nil {
			return err
		}
	}
	f.plan.Stages = append(f.plan.Stages, stage)
	return nil
}

// cutUsers is the number in 200users.
func cutUsers(s string) (number string, is bool) {
	for _, unit := range []string{"users", "user"} {
		if number, is = strings.CutSuffix(s, unit); is {
			return strings.TrimSpace(number), true
		}
	}
	return s, false
}

// readStages reads stages from a file, or from stdin for "-", one a line. Empty lines and lines
// that begin with # are ignored.
func (f *runFlags) readStages(name string) error {
	if name == "" {
		return errNoValue
	}
	f.stages = name
	file, from := io.NopCloser(f.stdin), "stdin"
	if name != "-" {
		opened, err := os.Open(name)
		if err != nil {
			return err
		}
		file, from = opened, name
	}
	defer file.Close()
	var faults []error
	lines := bufio.NewScanner(file)
	read := func() int { return len(f.plan.Stages) + len(f.plan.UserStages) }
	before := read()
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if err := f.addStage(text); err != nil {
			faults = append(faults, fmt.Errorf("%s:%d: %w", from, n, err))
		}
		if read()-before > loadplan.MaxStages || len(faults) >= mostFaults {
			break
		}
	}
	if err := lines.Err(); err != nil {
		faults = append(faults, fmt.Errorf("%s: %w", from, err))
	}
	if len(faults) == 0 && read() == before {
		faults = append(faults, fmt.Errorf("%s: has no stage", from))
	}
	return errors.Join(faults...)
}

// mostFaults is how many faults of one file are reported.
const mostFaults = 20

// parseArrival parses the name of a distribution of arrivals.
func parseArrival(s string) (string, error) {
	if s != loadplan.Even && s != loadplan.Poisson {
		return "", fmt.Errorf("%q is not %s or %s", s, loadplan.Even, loadplan.Poisson)
	}
	return s, nil
}

// parseSeed parses a seed, which must be one that JSON can represent exactly.
func parseSeed(s string) (uint64, error) {
	n, err := parsePositive(parseCount)(s)
	return uint64(n), err
}
