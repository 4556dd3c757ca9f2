package fleet

import "dyno/internal/fleet/wire"

// publishCommand sends a command that does not bear on load.
func (r *fleetRun) publishCommand(agent, verb string, m any) error {
	return r.Conn.Publish(wire.CommandSubject(agent, verb), wire.Encode(m))
}

// instructMember tells a member what bears on its load.
func (r *fleetRun) instructMember(m *member, i wire.Instruction) {
	i.RunRef, i.Agent = m.runRef(r), m.name
	r.publishInstruction(i)
}

// instructMembers gives all members that are such and not done their instruction.
func (r *fleetRun) instructMembers(such func(*member) bool, what func(*member) wire.Instruction) {
	for _, m := range r.members {
		if such(m) && !m.isDone() {
			r.instructMember(m, what(m))
		}
	}
}

// publishInstruction numbers an instruction, signs it and sends it. What does not arrive is
// missed by whoever waits for the answer, as is what cannot be signed any more.
func (r *fleetRun) publishInstruction(i wire.Instruction) {
	r.instructionsSent++
	i.Number, i.SentAt = r.instructionsSent, r.clock.currentReading()
	if b, err := i.EncodeSigned(r.Sign); err == nil {
		r.Conn.Publish(wire.CommandSubject(i.Agent, i.Verb), b)
	}
}

// stopMembers tells all to stop.
func (r *fleetRun) stopMembers(why string, aborted bool) {
	r.stopped, r.stopOrder = true, wire.Stop{Why: why, Aborted: aborted}
	for _, m := range r.members {
		if !m.hasFinal() && m.refused == "" {
			r.instructMember(m, wire.Instruction{Verb: wire.StopLoad, Stop: &r.stopOrder})
		}
	}
}
