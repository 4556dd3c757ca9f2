package fleet

import "dyno/internal/fleet/wire"

// publishCommand sends a command that cannot change a load, unsigned.
func (r *fleetRun) publishCommand(agent, verb string, m any) error {
	return r.Conn.Publish(wire.CommandSubject(agent, verb), wire.Encode(m))
}

// instructMember sends a member a signed instruction.
func (r *fleetRun) instructMember(m *member, i wire.Instruction) {
	i.RunRef, i.Agent = m.runRef(r), m.name
	r.publishInstruction(i)
}

// instructMembers sends an instruction to each member that is not done and for which such holds.
func (r *fleetRun) instructMembers(such func(*member) bool, what func(*member) wire.Instruction) {
	for _, m := range r.members {
		if such(m) && !m.isDone() {
			r.instructMember(m, what(m))
		}
	}
}

// publishInstruction numbers, signs and sends an instruction. Errors are not reported: if an
// instruction does not arrive, the answer to it is missing too, and that has a timeout.
func (r *fleetRun) publishInstruction(i wire.Instruction) {
	r.instructionsSent++
	i.Number, i.SentAt = r.instructionsSent, r.clock.currentReading()
	if b, err := i.EncodeSigned(r.Sign); err == nil {
		r.Conn.Publish(wire.CommandSubject(i.Agent, i.Verb), b)
	}
}

// stopMembers tells all members to stop.
func (r *fleetRun) stopMembers(why string, aborted bool) {
	r.stopped, r.stopOrder = true, wire.Stop{Why: why, Aborted: aborted}
	for _, m := range r.members {
		if !m.hasFinal() && m.refused == "" {
			r.instructMember(m, wire.Instruction{Verb: wire.StopLoad, Stop: &r.stopOrder})
		}
	}
}
