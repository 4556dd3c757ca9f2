package fleet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/fleet/wire"
)

// StopAllRuns tells every agent to stop its load, and waits until they have, up to Lease. An agent
// obeys only if it trusts the key that signs. The error names the agents that did not stop. Agents
// whose load is over go on sending what they measured.
func StopAllRuns(ctx context.Context, conn *nats.Conn, sign func([]byte) ([]byte, error),
	why string) error {
	there, err := Discover(ctx, conn, nil, helloTimeout)
	if err != nil {
		return err
	}
	running := map[string]string{} // runs, by agent
	for _, a := range there {
		if a.Busy == "" || a.Reporting {
			continue
		}
		running[a.Name] = a.Busy
		b, err := wire.Instruction{RunRef: wire.RunRef{Run: a.Busy, Epoch: a.Epoch}, Agent: a.Name,
			Verb: wire.StopLoad, Stop: &wire.Stop{Why: why}}.EncodeSigned(sign)
		if err == nil {
			err = conn.Publish(wire.CommandSubject(a.Name, wire.StopLoad), b)
		}
		if err != nil {
			return fmt.Errorf("telling %s to stop: %w", a.Name, err)
		}
	}
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("telling all agents to stop: %w", err)
	}
	return awaitStopped(ctx, conn, running)
}

// awaitStopped waits until no agent has the run any more that running names for it, up to Lease.
func awaitStopped(ctx context.Context, conn *nats.Conn, running map[string]string) error {
	left := slices.Sorted(maps.Keys(running))
	for until := time.Now().Add(Lease); len(left) > 0; time.Sleep(deadlineInterval) {
		there, err := Discover(ctx, conn, left, helloTimeout)
		if err != nil {
			return err
		}
		left = nil
		for _, a := range there {
			if a.Busy != "" && a.Busy == running[a.Name] && !a.Reporting {
				left = append(left, a.Name)
			}
		}
		if len(left) > 0 && (ctx.Err() != nil || time.Now().After(until)) {
			return fmt.Errorf("agents that were told to stop and go on: %s; do they obey another plan "+
				"key than this machine's, which dyno fleet key prints?", strings.Join(left, ", "))
		}
	}
	return nil
}
