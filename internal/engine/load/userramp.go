package load

import "dyno/internal/engine/flow"

// This file is about users whose number changes; see loadplan.UserRamp.

// nextChange is when the next user begins or leaves; flow.NotYet: never.
func (u *users) nextChange(start int64) int64 {
	if u.ramp == nil || u.ramp.Over || start == flow.NotYet {
		return flow.NotYet
	}
	return start + u.ramp.Change.At
}

// followRamp has users begin and leave whose instant has come. Who begins has its first iteration
// due at once: on a slot of its own when it can be begun, as the users of a load's start, else at
// its instant. Who leaves ends its iteration before.
func (u *users) followRamp(now, start int64) {
	for at := u.nextChange(start); at <= now; at = u.nextChange(start) {
		n := uint32(u.ramp.Change.User)
		x := &u.all[n]
		if x.leaves = !u.ramp.Change.Begins; !x.leaves && !x.active {
			if x.freed = at; x.slot {
				x.freed = flow.NotYet
			}
			if x.away {
				x.away = false
				u.free.PushBack(n)
			}
		}
		u.ramp.Advance()
		u.dropLeaving()
	}
}

// dropFree removes the user at the head of the free ones.
func (u *users) dropFree() {
	u.free.DropHead()
	if u.ramp != nil {
		u.dropLeaving()
	}
}

// dropLeaving removes users that have left from the head of the free ones: the head can begin.
func (u *users) dropLeaving() {
	for u.free.Len > 0 && u.all[u.free.First()].leaves {
		u.all[u.free.First()].away = true
		u.free.DropHead()
	}
}
