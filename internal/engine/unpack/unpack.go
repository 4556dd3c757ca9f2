// Package unpack makes a plan again that another process or machine packed (loadplan.Pack). It is
// where a plan arrives, and the one place that knows every kind of scenario; whoever sends a plan
// knows none.
package unpack

import (
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/luascript"
	"dyno/internal/engine/onestep"
	"dyno/internal/engine/session"
)

// Plan is the plan that was packed, with its scenario. Nothing of a script runs yet.
func Plan(packed []byte) (loadplan.Plan, error) {
	p, err := loadplan.Unpack(packed)
	switch {
	case err != nil:
	case p.Script != nil:
		err = luascript.Remake(&p)
	case len(p.Hurl) > 0:
		err = session.Remake(&p)
	default:
		err = onestep.Remake(&p)
	}
	return p, err
}
