package capacity

import (
	"math"
	"time"

	"dyno/internal/engine/loadplan"
)

// tries is how many rates a search usually tries before it finds one that is met and one that is
// not. The first is a fifth of what a closed loop reaches, and they double: the server's limit is
// seldom above the fourth.
const tries = 4

// Times are how long a search of a plan takes: usually, when every probe decides, and at most, when
// none does before it is repeated and each confirmation fails. Where a rate is so low that a
// percentile takes longer probes, a search takes longer than both.
func (s Settings) Times(p *loadplan.Plan) (usual, most time.Duration) {
	s = s.withDefaults()
	around := time.Duration(p.Warmup)
	probe, confirm := around+s.Probe, around+s.Confirm
	repeated := 1 + 1 + repeats // an extended probe, and repeated ones, take twice as long
	undecided := time.Duration(repeated)*around + s.Probe + time.Duration(repeated-1)*2*s.Probe
	first, silent := max(s.Probe/5, 100*time.Millisecond), max(s.Probe, time.Duration(p.Timeout))
	if s.Start > 0 || p.Rate > 0 || s.Axis != Rates {
		first, silent = 0, 0
	} else {
		first, silent = first+around, silent+around
	}
	halvings := math.Ceil(math.Log2(math.Log(largestStep) / math.Log(s.Within)))
	narrow := time.Duration(max(halvings, 0))
	usual = first + (tries+narrow)*probe + confirm
	most = first + silent + (highest+2+narrow)*undecided + steps*(2*around+3*s.Confirm)
	drains := 2 + (highest+2+narrow)*time.Duration(repeated) + 2*steps // of each probe
	return usual, most + drains*time.Duration(min(p.Drain, p.Timeout))
}
