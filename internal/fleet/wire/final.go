package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"

	"dyno/internal/engine/loadplan"
	"dyno/internal/result"
)

// A Final is all that an agent measured, or a part of it: the seconds of a run of days are too
// many to decode at once. All parts but the last have Series and More, and nothing else. The
// Final counts; Reports are for the live view, and the Final must agree with them.
type Final struct {
	Series []result.Point `json:"series,omitempty"` // seconds that no earlier part has
	More   bool           `json:"more,omitempty"`   // another part follows

	// Result has neither Plan, which the controller knows, nor Series.
	Result *result.Result `json:"result,omitempty"`
	Error  string         `json:"error,omitempty"` // why there is no Result
	Start  int64          `json:"start"`           // of the load, in ns of the agent's clock
	Late   int64          `json:"late"`            // ns from Start until the last thread worked
	Why    string         `json:"why,omitempty"`   // why the load ended early; "": it did not
}

// Limits of a part of a Final. Its JSON may be many times as long as what is sent, and its values
// take many times as much memory as JSON: {} is a second with all its fields.
const (
	PartMax       = 1 << 20   // bytes as sent, in one message or several
	partTextMax   = 4 << 20   // bytes of its JSON
	partValuesMax = 128 << 10 // values in that JSON
	partPointsMax = 600       // seconds in a part that PackParts makes
	partSeriesMax = 512 << 10 // bytes of JSON of those
)

// PackParts packs f in parts, which ParseFinalPart reads in turn. Each is packed when the iterator
// asks for it. A result that no part can hold is replaced by an error.
func (f Final) PackParts() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if f.Result != nil {
			whole := *f.Result
			for series := whole.Series; len(series) > 0; {
				n, _ := countFitting(series)
				if !yield(Final{Series: series[:n], More: true}.compress()) {
					return
				}
				series = series[n:]
			}
			whole.Plan, whole.Series = loadplan.Plan{}, []result.Point{}
			f.Result = &whole
		}
		last := f.compress()
		if _, err := ParseFinalPart(last); err != nil {
			last = Final{Error: err.Error(), Why: f.Why}.compress()
		}
		yield(last)
	}
}

// countFitting returns how many of the first seconds fit into one part, and whether they fill it.
func countFitting(series []result.Point) (n int, full bool) {
	size := 0
	for n < len(series) && n < partPointsMax && size < partSeriesMax {
		size += len(Encode(series[n]))
		n++
	}
	return n, n == partPointsMax || size >= partSeriesMax
}

// IsFull reports whether a part has as many seconds as PackParts puts into each part but the
// last. Otherwise an agent could send many small parts, each of which costs the controller a
// reading.
func (f *Final) IsFull() bool {
	_, full := countFitting(f.Series)
	return full
}

// compress returns f as it is sent.
func (f Final) compress() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(Encode(f)) // a buffer takes all
	w.Close()
	return b.Bytes()
}

// ParseFinalPart decodes a part from PackParts. It decodes no more, and allocates no more, than a
// part can need.
func ParseFinalPart(b []byte) (*Final, error) {
	if len(b) > PartMax {
		return nil, fmt.Errorf("an agent's result: a part of %d bytes; %d at most", len(b), PartMax)
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("an agent's result: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, partTextMax+1))
	if err != nil {
		return nil, fmt.Errorf("an agent's result: %w", err)
	}
	if len(text) > partTextMax {
		return nil, fmt.Errorf("an agent's result: a part becomes longer than %d bytes", partTextMax)
	}
	f := new(Final)
	if err := decodeStrict(text, f, partValuesMax); err != nil {
		return nil, fmt.Errorf("an agent's result: %w", err)
	}
	return f, f.checkPart()
}

// checkPart fails unless f has the fields of a part, and no others.
func (f *Final) checkPart() error {
	switch {
	case f.More && (len(f.Series) == 0 || f.Result != nil || f.Error != ""):
		return errors.New("an agent's result: a part that others follow has seconds, and nothing else")
	case f.More:
		return nil
	case (f.Result == nil) == (f.Error == ""):
		return errors.New("an agent's result: either it or why there is none must be there")
	case f.Result != nil && len(f.Result.Series) > 0:
		return errors.New("an agent's result: it is in one part, as earlier versions send it")
	}
	return nil
}
