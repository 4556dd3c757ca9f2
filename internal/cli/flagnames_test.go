package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/setting"
)

// Each flag of a verb is read: by a reader of the verb, or as its row says.
func TestEveryFlagIsRead(t *testing.T) {
	find, vs := newFindFlags(), newVsFlags()
	for verb, groups := range map[setting.Verbs][]group{setting.Run: newRunFlags().groups(),
		setting.Find: find.groups(), setting.Vs: vs.groups()} {
		for _, g := range groups {
			for _, o := range g.options {
				func() {
					defer func() {
						if recover() != nil {
							t.Errorf("verb %d: --%s has neither a reader nor an access", verb, o.long)
						}
					}()
					o.set("")
				}()
			}
		}
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
