package loadplan

import (
	"errors"
	"fmt"

	"dyno/internal/engine/jsonpack"
	"dyno/internal/engine/scenario"
)

// A remaker is a scenario that can be made again elsewhere, of what it puts into the plan.
type remaker interface {
	scenario.Maker
	PackInto(p *Plan)
}

// Pack is a plan with all that is in it, for a generator in another process: its JSON in results
// leaves out what is not for the eyes of people. Of a Scenario what it was made of goes along, and
// package unpack makes it again. One that is Go code cannot be packed, and a Log stays in this
// process.
func Pack(p Plan) ([]byte, error) {
	if p.Scenario != nil {
		m, is := p.Scenario.(remaker)
		if !is {
			return nil, errors.New("a scenario that is Go code runs in this process alone")
		}
		m.PackInto(&p)
	}
	p.Scenario, p.Log = nil, nil
	return jsonpack.Append(nil, p)
}

// Unpack reads what Pack wrote, without a Scenario.
func Unpack(b []byte) (p Plan, err error) {
	if err := jsonpack.Read(b, &p); err != nil {
		return Plan{}, fmt.Errorf("it is damaged: %w", err)
	}
	return p, nil
}

// TellScenario tells a scenario that runs a program, such as a script, which addresses the plan may
// load, and when nobody waits for it any more: once ended is closed; nil: never.
func (p *Plan) TellScenario(ended <-chan struct{}) {
	if m, is := p.Scenario.(interface {
		Hear(p *Plan, ended <-chan struct{})
	}); is {
		m.Hear(p, ended)
	}
}
