package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// A stage is how far a job has come.
type stage int

const (
	judging stage = iota
	accepted
	opening
	ready // at the barrier
	loading
	telling // the load is over, and what it measured is being packed
	through // and all of it has been packed
)

// A job is an agent's part in a run.
type job struct {
	wire.RunRef
	stage stage
	plan  load.Plan
	heard time.Time // the controller, by what it signed

	numbers map[string]int64 // of the last instruction of each verb: a Beat may overtake others
	pace    pace

	ctx   context.Context
	stop  context.CancelCauseFunc
	begin chan time.Time // one: when the load begins
	start time.Time      // that
	more  bool           // its share may become larger
	share chan load.Share
	why   string // it was stopped
	spool spool
}

func (j *job) over() bool { return j.stage >= telling }

// of is what the agent's messages belong to.
func (j *job) of(s *service) wire.RunRef { return wire.RunRef{Run: j.Run, Epoch: s.epoch} }

// A parcel is a sealed order of which not all pieces have come.
type parcel struct {
	of   wire.RunRef
	from string
	next int
	data []byte
	come time.Time // the last piece
}

// carry takes a piece of an order. Pieces come in order, or not all of them do.
func (s *service) carry(p wire.Piece) {
	if p.Index == 0 {
		s.parcel = parcel{of: p.RunRef, from: p.From}
	}
	c := &s.parcel
	switch {
	case p.RunRef != c.of || p.From != c.from: // another order has begun since
		return
	case p.Index != c.next || p.Index >= p.Count || len(c.data)+len(p.Data) > wire.BundleMax:
		s.parcel = parcel{}
		return
	}
	c.data, c.come = append(c.data, p.Data...), time.Now()
	if c.next++; c.next < p.Count {
		return
	}
	whole := *c
	s.parcel = parcel{}
	s.consider(whole.of, whole.data, whole.from)
}

// consider decides whether the agent does as a sealed order says, and answers. It may take
// a while, for names are looked up.
func (s *service) consider(of wire.RunRef, sealed []byte, from string) {
	refuse := func(why string) {
		s.complain("refused", errors.New(why), time.Now())
		s.say(wire.OrderAnswered, wire.Answer{RunRef: wire.RunRef{Run: of.Run, Epoch: s.epoch}, Refused: why})
	}
	switch {
	case s.Watch:
		refuse("it only watches")
		return
	case of.Epoch != s.epoch:
		refuse("the plan is for a life of this agent that is over")
		return
	case s.job != nil && !s.job.over():
		refuse("it is busy with another run")
		return
	}
	j := &job{RunRef: of, heard: time.Now(), numbers: map[string]int64{},
		begin: make(chan time.Time, 1), share: make(chan load.Share, sharesMost)}
	j.ctx, j.stop = context.WithCancelCause(context.Background()) // end stops it
	s.job = j
	s.workers.Go(func() {
		o, plan, err := s.judge(j, sealed, from)
		s.later(func() {
			now := s.clock.now()
			given, good := s.nonces.IssuedAt(o.Nonce, now)
			if err == nil && !good {
				err = errors.New("the plan is no answer to what this agent said of late: somebody has " +
					"kept it")
			} else if err == nil { // once
				s.nonces.Void = now
			}
			if s.job != j || j.ctx.Err() != nil { // it was stopped meanwhile
				return
			}
			if err != nil {
				s.job = nil
				refuse(strings.ReplaceAll(err.Error(), "\n", "; "))
				return
			}
			j.plan, j.more, j.stage = plan, o.MayReshard, accepted
			j.pace = pace{given - o.HelloHeardAt, given}
			s.say(wire.OrderAnswered, wire.Answer{RunRef: j.of(s)})
		})
	})
}

// sharesMost is how many changes of its share an agent keeps that its load has not made.
const sharesMost = 16

// judge opens an order and says why the agent would not carry out its plan, but for its nonce.
func (s *service) judge(j *job, sealed []byte, from string) (o wire.Order, p load.Plan, err error) {
	o, p, err = wire.OpenOrder(sealed, from, s.key, s.Verify)
	switch {
	case err != nil:
		return o, p, err
	case o.Agent != s.Name || o.RunRef != j.RunRef:
		return o, p, errors.New("the plan was made for another agent or another run")
	case o.Version != s.dyno():
		return o, p, fmt.Errorf("it is dyno %s, and the controller %s: both must be the same",
			s.dyno(), o.Version)
	case o.Geometry != wire.Geometry():
		return o, p, fmt.Errorf("its histograms are of %s, and the controller's of %s",
			wire.Geometry(), o.Geometry)
	}
	if !o.Threads {
		p.Threads = max(min(load.Threads(), p.Connections), 1)
	}
	if err := p.Check(); err != nil {
		return o, p, err
	}
	most := p
	if o.MayReshard { // of all, if the others end
		most.Part, most.Parts, most.Weights = 0, 0, nil
	}
	most, err = s.policy().Authorize(j.ctx, most, s.Lookup)
	p.Addresses, p.Ceiling = most.Addresses, most.Ceiling
	return o, p, err
}

// open opens the connections, and has the load begin when it is told to.
func (s *service) open() error {
	j := s.job
	if j.stage != accepted {
		return errTurn
	}
	j.stage = opening
	s.tell("run %s: loads %s", j.Run, whom(j.plan))
	s.workers.Go(func() {
		ctx := j.ctx
		if d := s.policy().MaxDuration; d > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, d)
			defer cancel()
		}
		plan := j.plan
		if s.Ring != nil {
			plan.Ring = s.Ring(plan)
		}
		r, err := load.RunShared(ctx, plan, func(ctx context.Context) time.Time {
			s.later(func() { s.atBarrier(j) })
			select {
			case at := <-j.begin:
				return at
			case <-ctx.Done():
				return time.Time{}
			}
		}, j.share, func(iv load.Interval) {
			iv.Failures = fewer(iv.Failures)
			s.later(func() { s.report(j, wire.Report{RunRef: j.of(s), Tick: &iv}) })
		})
		if r != nil {
			r.Plan.Ring = j.plan.Ring
		}
		s.finish(j, s.final(r, err))
	})
	return nil
}

// whom says what a plan loads, as it is dialed, and not as somebody calls it: host, port, the
// addresses that were judged, and how much.
func whom(p load.Plan) string {
	var at []string
	for _, a := range p.Addresses {
		at = append(at, a.String())
	}
	how := fmt.Sprintf("%d connections", p.Connections)
	if p.Open() {
		how += fmt.Sprintf(", up to %v/s", p.Peak()+p.Probe)
	}
	return fmt.Sprintf("host %q, port %d, at %s: %s", p.Target.Host, p.Target.Port,
		strings.Join(at, ", "), how)
}

// atBarrier is when the connections are open.
func (s *service) atBarrier(j *job) {
	if j.stage == opening {
		j.stage = ready
		s.say(wire.ConnectionsOpen, j.of(s))
	}
}

// arm tells the load when to begin. What should have begun already is given up: the others
// have begun without it.
func (s *service) arm(at int64) error {
	j := s.job
	if j.stage != ready {
		return errTurn
	}
	begin := s.clock.at(at)
	if late := time.Since(begin); late > 0 {
		s.end(fmt.Sprintf("it heard of the start %v after it", late.Round(time.Millisecond)),
			context.Canceled)
		return nil
	}
	j.stage, j.start = loading, begin
	j.begin <- begin
	s.say(wire.Armed, j.of(s))
	return nil
}

// reshare gives the load another share, if the order has that in it and it is heard of in
// time: else some arrivals would be two agents'. Whoever does not say that it has it is not
// believed to.
func (s *service) reshare(to wire.Shard) error {
	j, p := s.job, s.job.plan
	p.Part, p.Parts, p.Weights = to.Part, len(to.Weights), to.Weights
	switch {
	case j.stage != loading || !j.more || len(to.Weights) == 0:
		return errTurn
	case p.Check() != nil:
		return errors.New("its share is none of this plan's")
	case time.Until(j.start.Add(time.Duration(to.After))) < shareLate:
		return errors.New("it is too late for another share")
	}
	select {
	case j.share <- load.Share{After: time.Duration(to.After), Part: to.Part, Weights: to.Weights}:
		s.say(wire.Resharded, j.of(s))
		return nil
	default:
		return fmt.Errorf("%d other shares were not yet taken", sharesMost)
	}
}

// report keeps a report until it is acknowledged, and says it.
func (s *service) report(j *job, r wire.Report) {
	j.spool.add(r)
	s.publish(j.spool.due(time.Now()))
	if j.spool.full() && s.job == j {
		s.end("its reports are not acknowledged", context.Canceled)
	}
}

// halt is a controller's word that it is over.
func (s *service) halt(stop wire.Stop) {
	cause := context.Canceled
	if stop.Aborted {
		cause = load.ErrAborted
	}
	s.end(stop.Why, cause)
}

// end stops the job. A load that has begun will finish by itself, with what it measured.
func (s *service) end(why string, cause error) {
	j := s.job
	if j.over() || j.ctx.Err() != nil {
		return
	}
	j.why = why
	j.stop(cause)
	if j.stage < opening {
		s.job = nil
	}
}

// final is all that a load measured, or why it did not.
func (s *service) final(r *load.Result, err error) wire.Final {
	if err != nil {
		return wire.Final{Error: err.Error()}
	}
	r.Failures = fewer(r.Failures)
	if r.Probe != nil {
		r.Probe.Failures = fewer(r.Probe.Failures)
	}
	out, err := result.From(r, s.dyno())
	if err != nil {
		return wire.Final{Error: err.Error()}
	}
	return wire.Final{Result: out, Start: s.clock.of(r.Started), Late: int64(r.StartLate)}
}

// finish reports the whole of what was measured. It is called beside the loop: to pack the seconds
// of days takes longer than a controller waits for a beat, and the loop says those meanwhile.
func (s *service) finish(j *job, f wire.Final) {
	s.sync(func() {
		j.stage, f.Why = telling, j.why
		if j.why == "" && f.Result != nil && f.Result.Ended == string(load.Interrupted) {
			f.Why = "its policy allows no longer runs"
		}
	})
	for part := range f.PackParts() {
		wanted := false
		s.sync(func() {
			if wanted = s.job == j; wanted {
				s.part(j, part)
			}
		})
		if !wanted { // by a controller that was not heard for long, or the agent is over
			break
		}
	}
	s.sync(func() {
		j.stage = through
		j.stop(nil)
		s.tell("run %s: over", j.Run)
	})
}

// part reports a part of what was measured.
func (s *service) part(j *job, part []byte) {
	pieces := wire.SplitPieces(part, wire.FinalPieceMax)
	for i, data := range pieces {
		s.report(j, wire.Report{RunRef: j.of(s), Data: data, Last: i == len(pieces)-1})
	}
}
