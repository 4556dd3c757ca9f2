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

// addStage adds the stage of a --stage.
func (f *runFlags) addStage(s string) error {
	stage, err := parseStage(s)
	if err == nil {
		f.plan.Stages = append(f.plan.Stages, stage)
	}
	return err
}

// parseStage parses DURATION:RATE.
func parseStage(s string) (loadplan.Stage, error) {
	length, rate, found := strings.Cut(s, ":")
	if !found {
		return loadplan.Stage{}, fmt.Errorf("%q is not a stage; write DURATION:RATE, as 30s:2000", s)
	}
	d, err := parseDuration(length)
	if err != nil {
		return loadplan.Stage{}, err
	}
	if trimmed := strings.TrimSuffix(rate, "/s"); trimmed == "0" {
		return loadplan.Stage{Duration: loadplan.Seconds(d)}, nil
	}
	r, err := parseRate(rate)
	return loadplan.Stage{Duration: loadplan.Seconds(d), Rate: r}, err
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
	before := len(f.plan.Stages)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if err := f.addStage(text); err != nil {
			faults = append(faults, fmt.Errorf("%s:%d: %w", from, n, err))
		}
		if len(f.plan.Stages)-before > loadplan.MaxStages || len(faults) >= mostFaults {
			break
		}
	}
	if err := lines.Err(); err != nil {
		faults = append(faults, fmt.Errorf("%s: %w", from, err))
	}
	if len(faults) == 0 && len(f.plan.Stages) == before {
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
