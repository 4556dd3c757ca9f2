package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
)

// Every field that a flaw can name has its flag, which dyno run has.
func TestFlagOfEveryField(t *testing.T) {
	var flags []string
	for _, g := range newRunFlags().groups() {
		for _, o := range g.options {
			flags = append(flags, "--"+o.long)
		}
	}
	for _, field := range loadplan.Fields {
		flag, known := flagOf[field]
		if !known || strings.HasPrefix(flag, "--") && !slices.Contains(flags, flag) {
			t.Errorf("%s: %q is no flag", field, flag)
		}
	}
	if len(flagOf) != len(loadplan.Fields) {
		t.Errorf("%d flags of %d fields", len(flagOf), len(loadplan.Fields))
	}
}

// Users read flags where the engine names fields, whatever wraps the flaw.
func TestFlawsInFlags(t *testing.T) {
	flaw := loadplan.Flaw{Setting: "CertFile, KeyFile", Problem: "lower {Threads} or {x}"}
	const want = "--cert, --key: lower --threads or {x}"
	for _, err := range []error{flaw, errors.Join(flaw), errors.Join(errors.New("other"), flaw),
		fmt.Errorf("a part: %w", flaw), fmt.Errorf("a part: %w", errors.Join(flaw))} {
		all := joinedErrors(err)
		if last := all[len(all)-1].Error(); strings.TrimPrefix(last, "a part: ") != want {
			t.Errorf("%v: %q, want %q", err, last, want)
		}
	}
	own := loadplan.Flaw{Setting: "--json", Problem: "is full"}
	if got := joinedErrors(own)[0]; got != error(own) {
		t.Error(got)
	}
}
