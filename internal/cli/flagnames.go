package cli

import (
	"dyno/internal/engine/loadplan"
	"dyno/internal/setting"
)

// inFlags is an error whose fields are named by flags, if it is a Flaw.
func inFlags(err error) error {
	flaw, is := err.(loadplan.Flaw)
	if !is {
		return err
	}
	return flaw.Named(setting.InFlags)
}
