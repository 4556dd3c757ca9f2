package fleet

import (
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/machine"
	"dyno/internal/fleet/policy"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// sendHello answers a discovery query.
func (s *agentService) sendHello(asked string, now time.Time) {
	h := wire.Hello{QueryID: asked, Epoch: s.epoch, Version: s.dynoVersion(),
		Geometry: wire.Geometry(),
		Weight:   s.helloWeight(), Threads: machine.Threads(), Host: result.ThisHost(),
		Watches: s.WatchOnly,
		Policy:  s.policyText(), Key: s.publicKey, Proof: s.proof,
		Nonce: s.nonces.Issue(s.clock.readingAt(now)),
		Clock: s.clock.wallTime()}
	if s.isBusy(now) {
		h.Busy, h.Reporting = s.job.Run, s.job.isOver()
	}
	s.publishEvent(wire.Present, h)
}

func (s *agentService) dynoVersion() string {
	if s.version != "" {
		return s.version
	}
	return loadplan.Version
}

func (s *agentService) helloWeight() int {
	if s.Weight > 0 {
		return min(s.Weight, loadplan.MaxWeight)
	}
	return machine.Threads()
}

// currentPolicy returns what the machine's owner allows, given where the bus is now.
func (s *agentService) currentPolicy() *policy.Policy {
	p := s.Policy
	if p == nil {
		p = policy.Default()
	}
	return p.WithLocalBus(s.Conn.ConnectedAddr())
}

// policyTextMax is how many bytes of its policy an agent publishes: a policy file may have a
// million.
const policyTextMax = 4 << 10

// policyText returns the policy as one line.
func (s *agentService) policyText() string {
	words := s.currentPolicy().String()
	return strings.ToValidUTF8(words[:min(len(words), policyTextMax)], "")
}

// answerClockQuery answers a query for the agent's clock.
func (s *agentService) answerClockQuery(q wire.ClockSync, now time.Time) {
	q.Epoch, q.ReceivedAt = s.epoch, s.clock.readingAt(now)
	q.RepliedAt = s.clock.currentReading()
	s.publishEvent(wire.ClockSynced, q)
}
