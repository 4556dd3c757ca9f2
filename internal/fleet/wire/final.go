package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"dyno/internal/engine/loadresult"
)

// A Final is the rest of what an agent counted: what its Reports do not have.
type Final struct {
	Result  *loadresult.Result `json:"result,omitempty"` // see loadresult.Result.Told
	Threads int                `json:"threads,omitempty"`
	Error   string             `json:"error,omitempty"` // why there is no Result
	Start   int64              `json:"start"`           // of the load, in ns of the agent's clock
	Why     string             `json:"why,omitempty"`   // why the load ended early; "": it did not
}

// Limits of a Final. Its JSON may be many times as long as what is sent, and its values take many
// times as much memory as JSON: {} is a route with all its fields. 1,000 routes of 5,000 answers
// each are half a MiB as sent.
const (
	FinalMax     = 2 << 20 // bytes as sent, in one message or several
	finalTextMax = 6 << 20 // bytes of its JSON
)

// finalShape are the limits of that JSON. The longest list of a Result has a little over 1,024.
var finalShape = shape{values: 128 << 10, list: 2 << 10, depth: depthMax}

// Pack packs f, which ParseFinal reads. One that is too long loses the longest histograms of its
// routes, and is replaced by an error if it is too long without all of them.
func (f Final) Pack() []byte {
	packed, err := f.tryPack()
	all := f.Result.RouteBytes()
	for room := all; err != nil && room > 0; {
		if room = room / 4 * 3; room < all/16 {
			room = 0
		}
		f.Result = f.Result.LeaveOutTimes(room)
		packed, err = f.tryPack()
	}
	if err != nil {
		return compress(Encode(Final{Error: err.Error(), Why: f.Why}))
	}
	return packed
}

// tryPack is Pack of one that is short enough.
func (f Final) tryPack() ([]byte, error) {
	text := Encode(f)
	if len(text) > finalTextMax {
		return nil, errTextLong
	}
	packed := compress(text)
	_, err := ParseFinal(packed)
	return packed, err
}

var errTextLong = fmt.Errorf("an agent's result: it becomes longer than %d bytes", finalTextMax)

// compress returns the JSON of a Final as it is sent.
func compress(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text) // a buffer takes all
	w.Close()
	return b.Bytes()
}

// ParseFinal decodes a Final from Pack. It decodes no more, and allocates no more, than one can
// need.
func ParseFinal(b []byte) (*Final, error) {
	if len(b) > FinalMax {
		return nil, fmt.Errorf("an agent's result: %d bytes; %d at most", len(b), FinalMax)
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("an agent's result: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, finalTextMax+1))
	if err != nil {
		return nil, fmt.Errorf("an agent's result: %w", err)
	}
	if len(text) > finalTextMax {
		return nil, errTextLong
	}
	f := new(Final)
	if err := decodeStrict(text, f, finalShape); err != nil {
		return nil, fmt.Errorf("an agent's result: %w", err)
	}
	if (f.Result == nil) == (f.Error == "") {
		return nil, errors.New("an agent's result: either it or why there is none must be there")
	}
	return f, nil
}
