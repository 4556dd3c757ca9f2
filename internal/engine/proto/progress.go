package proto

import "dyno/internal/fact"

// A Progressor is a Codec that knows how far responses have come.
type Progressor interface {
	// Progress is how far the response of exchange tag, which is in flight, has come.
	Progress(tag uint32) Progress
}

// A Progress is how far a response has come. The zero value: nothing of it.
type Progress struct {
	Header int64    // bytes, while the header is not whole
	Body   int64    // bytes, once it is
	Length int64    // Content-Length; below 0: there is none
	End    fact.End // what ends the body; "": the header is not whole
}
