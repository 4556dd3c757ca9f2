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
// times as much memory as JSON: {} is a route with all its fields.
const (
	FinalMax       = 1 << 20   // bytes as sent, in one message or several
	finalTextMax   = 4 << 20   // bytes of its JSON
	finalValuesMax = 128 << 10 // values in that JSON
)

// Pack packs f, which ParseFinal reads. One that is too long is replaced by an error.
func (f Final) Pack() []byte {
	packed := f.compress()
	if _, err := ParseFinal(packed); err != nil {
		return Final{Error: err.Error(), Why: f.Why}.compress()
	}
	return packed
}

// compress returns f as it is sent.
func (f Final) compress() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(Encode(f)) // a buffer takes all
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
		return nil, fmt.Errorf("an agent's result: it becomes longer than %d bytes", finalTextMax)
	}
	f := new(Final)
	if err := decodeStrict(text, f, finalValuesMax); err != nil {
		return nil, fmt.Errorf("an agent's result: %w", err)
	}
	if (f.Result == nil) == (f.Error == "") {
		return nil, errors.New("an agent's result: either it or why there is none must be there")
	}
	return f, nil
}
