package proto

// A Progressor is a Codec that knows how far responses have come.
type Progressor interface {
	// Progress is how far the response of exchange tag, which is in flight, has come.
	Progress(tag uint32) Progress
}

// A Progress is how far a response has come. The zero value: nothing of it.
type Progress struct {
	Header int64 // bytes, while the header is not whole
	Body   int64 // bytes, once it is
	Length int64 // Content-Length; below 0: there is none
	End    End   // what ends the body; "": the header is not whole
}

// An End is what ends the body of a response.
type End string

// The ends of a body.
const (
	AtLength End = "length" // the last byte of those that Content-Length announced
	AtChunk  End = "chunk"  // the last chunk
	AtClose  End = "close"  // the end of the connection
	AtStream End = "stream" // the end of its stream, or of the request to the application
)
