package scenario

import "dyno/internal/engine/proto"

// Responses are the sink of one connection: what a scenario wants of its responses, by tag.
type Responses struct {
	Of    []Response
	Whole *WholeResponses // the sink in its place, if responses are kept whole, else nil
}

// Begin makes room for the response of an exchange.
func (a *Responses) Begin(tag uint32) { a.Of = beginResponse(a.Of, tag) }

func beginResponse(all []Response, tag uint32) []Response {
	for len(all) <= int(tag) { // grows to the codec's room, once
		all = append(all, Response{})
	}
	all[tag].Reset()
	return all
}

// Field keeps a field.
func (a *Responses) Field(tag uint32, name, value []byte, trailer bool) {
	a.Of[tag].AddField(name, value, trailer)
}

// Body keeps a piece of a body.
func (a *Responses) Body(tag uint32, b []byte) { a.Of[tag].AddBody(b) }

// WholeResponses are the sink of one connection whose responses are kept whole, by tag, as far as
// there is memory. The scenario is given what it wants of them.
type WholeResponses struct {
	Of     []Response
	Header int        // bytes of a header at most
	Bytes  int        // bytes of a body at most
	Show   *int       // with 0 nothing is kept any more; nil: all are kept
	Part   *Responses // nil: there is no scenario
	Want   proto.Want // of the scenario
}

// Begin makes room for the response of an exchange.
func (a *WholeResponses) Begin(tag uint32) { a.Of = beginResponse(a.Of, tag) }

func (a *WholeResponses) isKept() bool { return a.Show == nil || *a.Show > 0 }

// Field keeps a field.
func (a *WholeResponses) Field(tag uint32, name, value []byte, trailer bool) {
	if r := &a.Of[tag]; !a.isKept() || r.FieldBytes()+len(name)+len(value) > a.Header {
		r.LeaveOutField()
	} else {
		r.AddField(name, value, trailer)
	}
	if a.Part != nil && a.Want.WantsField(name) {
		a.Part.Field(tag, name, value, trailer)
	}
}

// Body keeps a piece of a body.
func (a *WholeResponses) Body(tag uint32, b []byte) {
	if r := &a.Of[tag]; a.isKept() {
		r.AddBody(b[:min(len(b), a.Bytes-len(r.Body))])
	}
	if a.Part == nil {
		return
	}
	got := int64(len(a.Part.Of[tag].Body))
	if b = a.Want.Cut(got, b); len(b) > 0 {
		a.Part.Body(tag, b)
	}
}
