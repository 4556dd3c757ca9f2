// Package sampling knows of which errors samples are kept, and of how many.
package sampling

import (
	"dyno/internal/engine/failure"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/reqlog"
)

// sampledKinds is how many kinds of errors a worker has samples of: the first it meets. With all
// limits of samples reached a thread keeps 80 MiB of bodies.
const sampledKinds = 32

// A Sampler holds a worker's samples.
type Sampler struct {
	Show   int          // requests to keep yet, whatever becomes of them: Plan.Show
	most   int          // of each kind; 0: none is kept
	Whole  bool         // Plan.SaveErrors
	Log    *reqlog.Ring // of all requests; nil: there is none
	Kept   []loadresult.Sample
	count  map[failure.Kind]int
	Judged proto.MessageCopy
}

// New makes the Sampler of one of the plan's threads.
func New(p *loadplan.Plan, thread int) Sampler {
	s := Sampler{Whole: p.SaveErrors, Show: p.Show, Log: p.LogRing(thread),
		count: map[failure.Kind]int{}}
	switch {
	case p.SaveErrors:
		s.most = loadplan.SamplesMost
	case p.Scenario != nil:
		s.most = 1
	}
	return s
}

// Wants reports whether a sample of that kind is to be kept.
func (s *Sampler) Wants(k failure.Kind) bool {
	if s.most == 0 && s.Show == 0 { // the usual case, of each error
		return false
	}
	n, known := s.count[k]
	if k.Phase == loadresult.Shown {
		return s.count[failure.Kind{Phase: loadresult.Shown}] < s.Show // a hop is part of a request
	}
	return n < s.most && (known || len(s.count) < sampledKinds)
}

// KeepMessage copies a message, whose memory the scenario may use for the next.
func (s *Sampler) KeepMessage(m proto.Message) {
	if s.Whole || s.Show > 0 {
		s.Judged.Copy(m, loadplan.SampledBody)
	}
}

// Add adds a sample of that kind.
func (s *Sampler) Add(k failure.Kind, sample loadresult.Sample) *loadresult.Sample {
	s.count[k]++
	s.Kept = append(s.Kept, sample)
	return &s.Kept[len(s.Kept)-1]
}

// Sum are the samples of all of a load's threads, of each of which of has the Sampler.
func Sum[T any](threads []T, of func(T) *Sampler) (all []loadresult.Sample) {
	if len(threads) == 0 {
		return nil
	}
	one := of(threads[0])
	sum := Sampler{most: one.most, count: map[failure.Kind]int{},
		Show: one.Show + one.count[failure.Kind{Phase: loadresult.Shown}]}
	for _, t := range threads {
		all = append(all, of(t).Kept...)
	}
	return loadresult.FirstSamples(all, func(s loadresult.Sample) bool {
		k := failure.Kind{Phase: s.Phase, Name: s.Kind}
		if s.Phase == loadresult.Expect {
			k.Status = s.Status
		}
		wanted := sum.Wants(k)
		if wanted {
			sum.count[k]++
		}
		return wanted
	})
}
