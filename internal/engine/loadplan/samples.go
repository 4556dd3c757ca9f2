package loadplan

import (
	"dyno/internal/engine/proto"
	"dyno/internal/engine/reqlog"
)

// Limits of the samples of errors that a run keeps. Headers have the limits of their codecs.
const (
	SamplesMost = 20       // of each kind of error, with Plan.SaveErrors; else 1
	SampledBody = 64 << 10 // bytes of a request's body, and of a response's
	ShowMost    = 100      // Plan.Show at most

	sampledMemory = 256 << 20 // bytes of the responses under way: see SampledShare
	sampledLeast  = 4 << 10
)

// KeepsWhole reports whether requests and whole responses are kept: of errors, or to be shown.
func (p *Plan) KeepsWhole() bool { return p.SaveErrors || p.Show > 0 }

// LogRing is the ring of a thread of a plan with a Log; nil of one without.
func (p *Plan) LogRing(thread int) *reqlog.Ring {
	if p.Log == nil {
		return nil
	}
	return p.Log(thread)
}

// SampledShare is how many bytes of a response's header, and how many of its body, a plan with
// SaveErrors keeps for each request under way, for any of them may become an error. All together
// keep 256 MiB, or 8 KiB each if there are more than 32,768.
func (p *Plan) SampledShare() int {
	requests := max(p.Connections, 1) * p.Depth()
	return max(sampledMemory/2/requests, sampledLeast)
}

// FilledRequest is the request without holes that a message is.
func (p *Plan) FilledRequest(m proto.Message) proto.Request {
	if m.Fill != nil && m.Fill.Own != nil {
		return m.Fill.Own.Filled(nil)
	}
	return p.Requests[m.Request].Filled(m.Fill)
}

// MethodOf is the method of a message.
func (p *Plan) MethodOf(m proto.Message) string {
	if m.Fill != nil && m.Fill.Own != nil {
		return m.Fill.Own.Method
	}
	return p.Requests[m.Request].Method
}
