package loadplan

import (
	"errors"
	"fmt"
)

// A Way is how a plan's connections are made, for whoever asks its server outside of a load: a plan
// of which only that counts. It is the whole plan but for what is sent, so that a setting of
// connections that is added to Plan is in every Way. Its JSON is for other processes, as Pack's is.
type Way struct{ Plan }

// Way is how the plan's connections are made.
func (p *Plan) Way() Way {
	w := Way{*p}
	w.Requests, w.Data, w.Variables, w.Rows, w.Environment = nil, nil, nil, nil, nil
	w.Scenario, w.Steps, w.Checks, w.Hurl, w.Script, w.Log = nil, nil, nil, nil, nil, nil
	return w
}

// Check is what is wrong with the way, whatever is sent on it; nil if nothing is. The errors are
// Flaws.
func (w *Way) Check() error {
	var all []error
	flaw := func(bad bool, setting, format string, args ...any) {
		if bad {
			all = append(all, Flaw{setting, fmt.Sprintf(format, args...)})
		}
	}
	w.checkProtocol(flaw)
	w.checkSource(flaw)
	w.checkTLS(flaw)
	return errors.Join(all...)
}

// MarshalJSON packs the way.
func (w Way) MarshalJSON() ([]byte, error) { return Pack(w.Plan) }

// UnmarshalJSON unpacks it.
func (w *Way) UnmarshalJSON(b []byte) (err error) {
	w.Plan, err = Unpack(b)
	return err
}
