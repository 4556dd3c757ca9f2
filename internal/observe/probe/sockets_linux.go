package probe

import (
	"fmt"
	"math"
	"slices"

	"dyno/internal/observe/sockdiag"
)

// maxSockets is up to how many sockets they are counted by state. The kernel walks
// over all of them and sends each: some 100 bytes, and a microsecond.
const maxSockets = 5_000

var errManySockets = fmt.Errorf("more than %d: counting them would disturb", maxSockets)

// tcpStates are the kernel's states of TCP sockets, in its order, from 1. TIME_WAIT,
// of which a load leaves tens of thousands, is not asked for: sockstat has it.
var tcpStates = []string{
	"established", "syn_sent", "syn_recv", "fin_wait1", "fin_wait2", timeWait,
	"close", "close_wait", "last_ack", "listen", "closing", "new_syn_recv",
}

const timeWait = "time_wait"

func stateColumns() (all []column) {
	for _, s := range tcpStates {
		if s != timeWait {
			all = append(all, column{name: "host.tcp." + s})
		}
	}
	return all
}

// countStates counts the sockets of each state, in the order of stateColumns.
func countStates(d *sockdiag.Diag, row []float64) error {
	var counts [256]float64
	states := uint32(math.MaxUint32) &^ (1 << (slices.Index(tcpStates, timeWait) + 1))
	if err := d.Each(states, func(s sockdiag.Socket) { counts[s.State]++ }); err != nil {
		return err
	}
	i := 0
	for state, name := range tcpStates {
		if name != timeWait {
			row[i] = counts[state+1]
			i++
		}
	}
	return nil
}
