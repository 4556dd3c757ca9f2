package loadplan

import (
	"math/bits"
	"slices"
	"time"
)

// A UserStage is a part of a closed workload in which the number of users changes linearly from
// what it was to Users. A stage without a length is a step. It is written 30s:200users, because
// 30s:200 is a stage of a rate.
type UserStage struct {
	Duration Seconds `json:"duration_s"`
	Users    int     `json:"users"`
}

// Users take part in an order, and so many first ones as the number is at an instant, rounded up.
// So the first user of a ramp begins with it, and the last one leaves at its end. The users of a
// load are shared out to its parts and workers as arrivals are (see slotCycle): all begin as the
// whole load says, however many parts and threads there are.

// Ramps reports whether the number of users changes.
func (p *Plan) Ramps() bool { return len(p.UserStages) > 0 }

// mostUsers is the highest number of users of the whole load, of a plan that ramps.
func (p *Plan) mostUsers() int {
	most := p.Users
	for _, s := range p.UserStages {
		most = max(most, s.Users)
	}
	return most
}

// UsersAt is how many users the whole load has just before an instant of the window; 0 if the plan
// does not ramp.
func (p *Plan) UsersAt(at time.Duration) int {
	if !p.Ramps() {
		return 0
	}
	n := p.Users
	for _, s := range p.UserStages {
		if length := time.Duration(s.Duration); at < length {
			if s.Users < n {
				left, _ := portion(int64(at), n-s.Users, int64(length))
				return n - int(left)
			}
			begun, rest := portion(int64(at), s.Users-n, int64(length))
			return n + int(begun) + int(min(rest, 1))
		}
		at, n = at-time.Duration(s.Duration), s.Users
	}
	return n
}

// portion is a·b/of, rounded down, and what is left over. One of a and b is not above of.
func portion(a int64, b int, of int64) (q int64, rest uint64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	n, rest := bits.Div64(hi, lo, uint64(of))
	return int64(n), rest
}

// A UserChange is a user who begins or leaves.
type UserChange struct {
	At     int64 // ns after the start of the load
	User   int   // of the worker's users, from 0
	Begins bool
}

// A UserRamp yields when users of one worker begin and leave, in ascending order.
type UserRamp struct {
	Change UserChange // the next
	Over   bool       // there is none

	slots  slotCycle // of all users, those of the worker
	stages []UserStage
	begin  int64 // of the first of stages
	from   int   // users of the whole load before it
	here   int   // users of the worker who take part
}

// NewUserRamp returns the ramp of worker i of n, and how many of its users take part from the
// load's start on. The ramp is nil if the plan has none.
func (p *Plan) NewUserRamp(i, n int) (ramp *UserRamp, first int) {
	if !p.Ramps() {
		return nil, 0
	}
	r := &UserRamp{slots: p.workerSlots(i, n), stages: p.UserStages, begin: int64(p.Warmup),
		from: p.Users}
	r.here = int(r.slots.below(int64(p.Users)))
	first = r.here
	r.Advance()
	return r, first
}

// Advance moves to the change after the next.
func (r *UserRamp) Advance() {
	for len(r.stages) > 0 {
		s := &r.stages[0]
		length, to := int64(s.Duration), s.Users
		if next := r.slots.at(r.here); to > r.from && next < to {
			at, _ := portion(length, next-r.from, int64(to-r.from))
			r.here++
			r.Change = UserChange{r.begin + at, r.here - 1, true}
			return
		}
		if last := r.slots.at(max(r.here-1, 0)); to < r.from && r.here > 0 && last >= to {
			at, _ := portion(length, r.from-last, int64(r.from-to))
			r.here--
			r.Change = UserChange{r.begin + at, r.here, false}
			return
		}
		r.begin, r.from, r.stages = r.begin+length, to, r.stages[1:]
	}
	r.Over = true
}

// at is the k-th of the worker's.
func (t *slotCycle) at(k int) int {
	own := len(t.slots)
	return k/own*int(t.period) + int(t.slots[k%own])
}

// below is how many of the first n are the worker's.
func (t *slotCycle) below(n int64) int64 {
	last, _ := slices.BinarySearch(t.slots, uint64(n)%t.period)
	return n/int64(t.period)*int64(len(t.slots)) + int64(last)
}

// checkUserStages is Check of a ramp of users.
func (p *Plan) checkUserStages(flaw finder) {
	if !p.Ramps() {
		return
	}
	flaw(p.Open(), "Stages", "users of a load with a rate send when the rate says, so their number "+
		"has no stages").Mend = "leave out {Rate} and D:RATE, or D:Nusers"
	flaw(len(p.UserStages) > MaxStages, "Stages", "%d are given; %d are possible",
		len(p.UserStages), MaxStages)
	for _, s := range p.UserStages {
		flaw(s.Duration < 0 || time.Duration(s.Duration) > MaxTime, "Stages",
			"%v is not within 0s to %v", s.Duration, MaxTime)
		flaw(s.Users < 0 || s.Users > MaxUsers, "Stages", "%d users are not within 0 to %d", s.Users,
			MaxUsers)
	}
	flaw(p.mostUsers() == 0, "Stages", "no stage has users")
	flaw(p.Users == 0 && p.Warmup > 0, "Warmup",
		"needs {Users}, which is their number before the first stage")
	if !p.Open() {
		p.checkStagesLength(flaw)
	}
}

// checkStagesLength checks that the stages are as long as the window.
func (p *Plan) checkStagesLength(flaw finder) {
	length := p.StagesLength()
	flaw(length != time.Duration(p.Duration), "Duration",
		"%v is not the length of all stages, %v", p.Duration, length)
}
