package plansecrets

import (
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/redact"
)

// redactRequest has r keep what keep leaves of it.
func redactRequest(r *proto.Request, keep redact.Replacer) {
	said := contentType(r.Header)
	r.Header = redactHeaders(r.Header, keep)
	r.Body = keep.Body(said, r.Body)
	if r.Path != "*" {
		r.Path = keep.URL(r.Path)
	}
}

// hasSecretHoles reports whether a request of p has a hole within what is a secret. It may have if
// p has no request: its scenario has its own.
func hasSecretHoles(p *loadplan.Plan) (has bool) {
	if len(p.Requests) == 0 {
		return true
	}
	note := redact.Replacer(func(_, s string) string {
		has = has || strings.Contains(s, holeValue)
		return s
	})
	for i := range p.Requests {
		if has {
			break
		}
		if len(p.Requests[i].Holes) > 0 {
			filled := filledAlike(p, i)
			redactRequest(&filled, note)
		}
	}
	return has
}

// holeValue may stand in every hole, also where JSON has a number.
const holeValue = "2718281828"

// filledAlike is the request of that number with holeValue in each hole.
func filledAlike(p *loadplan.Plan, i int) proto.Request {
	r, last := &p.Requests[i].Request, -1
	for _, h := range r.Holes {
		last = max(last, h.Value)
	}
	if last < 0 {
		return *r
	}
	values := slices.Repeat([][]byte{[]byte(holeValue)}, last+1)
	fill := proto.Fill{Values: values, Body: proto.AppendFilled(nil, r.Body, r.BodyHoles(), values)}
	return p.FilledRequest(proto.Message{Request: i, Fill: &fill})
}
