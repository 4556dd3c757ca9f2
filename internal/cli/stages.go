package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/setting"
)

// readStages reads stages from a file, or from stdin for "-", one a line. Empty lines and lines
// that begin with # are ignored.
func (f *runFlags) readStages(name string) error {
	if name == "" {
		return setting.ErrNoValue
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
		if err := setting.SetStage(&f.plan, text); err != nil {
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
