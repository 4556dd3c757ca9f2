// Package fleet makes one load of many machines. A Controller splits a plan into parts, and each
// Agent carries out one part. Their messages are in package wire; connections to the bus are made
// by package bus.
//
// A run goes through stages, and no agent enters a stage before all have finished the one before
// it:
//
//  1. Each agent accepts its part of the plan, or says why not (agent_order.go).
//  2. All agents open their connections (agent_job.go).
//  3. The controller measures the offset of each agent's monotonic clock (clocksync.go).
//  4. All agents begin at one instant. The parts are shards of one schedule, so they need not talk.
//  5. Each second an agent reports what it measured (agent_report.go, reports.go).
//  6. At the end it sends the rest of what it counted: its final. The controller checks that the
//     final adds up to the reports, and does not exceed the order (checkfinal.go). It makes one
//     result of the reports and finals of all agents (merge.go), as of the threads of one process.
//
// The stages are in stages.go. Two sides give each other up after a silence of Lease: an agent
// stops its load (agent.go), and the controller counts the agent as lost (run.go, loss.go). An
// agent process that was started again is another agent.
//
// Files named agent_*.go are the agent's side; the others are the controller's, or both sides'.
//
//	agent.go               the agent: its connection, heartbeats
//	agent_hello.go         the agent answers who looks for agents
//	agent_instruction.go   instructions: signed, numbered, fresh enough?
//	agent_job.go           the agent's load, stage by stage
//	agent_order.go         does the agent accept an order?
//	agent_report.go        the agent's reports, and its final
//	agent_spool.go         reports that the controller has not acknowledged
//	checkfinal.go          does a final add up to the reports, and not exceed the order?
//	checkreport.go         is a report possible?
//	clock.go               offset and drift of a clock
//	clocksync.go           asks agents for their clocks
//	commands.go            sends instructions to agents
//	controller.go          Controller.Run; chooses agents
//	discover.go            finds agents: dyno fleet list, and before a run
//	fleet.go               this comment; Lease and the other times, and limits of queues
//	flood.go               how many messages of an agent are read, and which are dropped
//	loss.go                what happens when an agent is lost; agents that send heartbeats and no
//	                       reports, or no final
//	member.go              an agent as the controller knows it: how far it is
//	merge.go               one result of all reports and finals
//	rebalance.go           gives the share of a lost agent to the others
//	reports.go             receives reports and finals
//	run.go                 the controller's loop: messages, heartbeats, deadlines, and after which
//	                       silence an agent is lost
//	split.go               cuts a plan by weights
//	stages.go              the stages of a run, in order
//	stopall.go             dyno fleet stop
package fleet

import (
	"crypto/rand"
	"time"

	"dyno/internal/fleet/wire"
)

const (
	// Lease is the silence after which an agent and a controller give each other up.
	Lease = 5 * time.Second

	heartbeatInterval = 500 * time.Millisecond // between heartbeats, of agents and controllers
	deadlineInterval  = 100 * time.Millisecond // between looks at deadlines
	resendDelay       = time.Second            // after which an unacknowledged report is sent again
)

// How much of one sender waits to be read, in messages and in bytes. What comes on top of that is
// dropped; messages that must arrive are sent again. An agent's queue holds a whole plan.
const (
	queuedMessagesMax  = 4 << 10
	queuedBytesMax     = 8 << 20
	queuedPlanBytesMax = 2 * wire.BundleMax
)

// newRandomID returns a name that nothing else has.
func newRandomID() string { return rand.Text() }
