package flow

import "dyno/internal/engine/loadplan"

// A Reshare replaces the plan's share of the arrivals from an instant on, in ns after the start.
type Reshare struct {
	Plan loadplan.Plan
	At   int64
}

// TakeShare changes to what worker i of n sends of another share. Arrivals due before its instant
// stay as they were. It reports whether the instant had passed, since ns after the start, while
// arrivals of the old share were left.
func (f *Flow) TakeShare(s *Reshare, i, n int, since int64) (late bool) {
	f.Share = s
	then := s.Plan.ScheduleFrom(i, n, s.At)
	if f.Next < s.At && !f.Over {
		f.replaceSchedule(loadplan.ChangeAt(f.uncapped(), then, s.At))
		return false
	}
	late = since > s.At && !f.Over
	f.Over = false // only the old share had nothing left before the end
	f.replaceSchedule(then)
	f.AdvanceArrival()
	return late
}

// uncapped is the schedule without its ceiling.
func (f *Flow) uncapped() loadplan.Schedule {
	if c, is := f.Schedule.(*ceiling); is {
		return c.Schedule
	}
	return f.Schedule
}

// replaceSchedule replaces the schedule. The ceiling stays: it belongs to the machine, not to the
// share.
func (f *Flow) replaceSchedule(to loadplan.Schedule) {
	if c, is := f.Schedule.(*ceiling); is {
		c.Schedule = to
		return
	}
	f.Schedule = to
}
