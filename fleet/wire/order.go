package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nkeys"

	"dyno/load"
	"dyno/metric"
	"dyno/result"
)

// An Order is what an agent is to do: data, and no code. It names the agent and its life,
// so that nobody can show it to another, or once more after a restart; and what the agent
// has just said, so that nobody can keep it for later.
type Order struct {
	Of
	Agent    string `json:"agent"`
	Nonce    string `json:"nonce"` // of its Hello
	Heard    int64  `json:"heard"` // when that was, in ns of the controller's monotonic clock
	Version  string `json:"version"`
	Geometry string `json:"geometry"`
	Plan     []byte `json:"plan"`    // as load.Pack packs it
	Threads  bool   `json:"threads"` // those of the plan are to be used, and not as many as cores
	Reshare  bool   `json:"reshare"` // its share of the rate may become larger: all of it, at most
}

// signed is an Order or an Instruction as it is signed, and the signature. As all are read
// strictly, and have fields that others have not, none can be taken for another.
type signed struct {
	Text      []byte `json:"text"`
	Signature []byte `json:"signature"`
}

// Geometry is that of the histograms of this version, and which there are. Those of other
// agents must be the same, or they could not be added up: an agent that takes a 503 for an
// answer like any other has no histogram of errors.
func Geometry() string {
	return fmt.Sprintf("1 to %d ns, %d and %d digits, errors apart", int64(metric.Longest),
		metric.Fine, metric.Coarse)
}

// Seal signs the order and makes it unreadable to all but whoever has the private half of
// the curve key to: a plan may hold secrets, and the bus may be somebody else's. from is
// the public key by which it can be opened.
func (o Order) Seal(sign func([]byte) ([]byte, error), to string) (sealed []byte, from string,
	err error) {
	s := signed{Text: Encode(o)}
	if s.Signature, err = sign(s.Text); err != nil {
		return nil, "", fmt.Errorf("signing a plan: %w", err)
	}
	key, err := nkeys.CreateCurveKeys()
	if err != nil {
		return nil, "", fmt.Errorf("sealing a plan: %w", err)
	}
	defer key.Wipe()
	if from, err = key.PublicKey(); err == nil {
		sealed, err = key.Seal(Encode(s), to)
	}
	if err != nil {
		return nil, "", fmt.Errorf("sealing a plan: %w", err)
	}
	return sealed, from, nil
}

// Open reads what Seal made, with the private curve key, and fails unless verify accepts
// the signature. Nothing that was not signed is looked into.
func Open(sealed []byte, from string, key nkeys.KeyPair,
	verify func(order, signature []byte) error) (Order, load.Plan, error) {
	var o Order
	b, err := key.Open(sealed, from)
	if err != nil {
		return o, load.Plan{}, errors.New("the plan was damaged on its way, or is for another agent")
	}
	var s signed
	if err := strictly(b, &s); err != nil {
		return o, load.Plan{}, err
	}
	if err := verify(s.Text, s.Signature); err != nil {
		return o, load.Plan{}, err
	}
	if err := strictly(s.Text, &o); err != nil {
		return o, load.Plan{}, err
	}
	plan, err := load.Unpack(o.Plan)
	if err != nil {
		return o, plan, fmt.Errorf("reading the plan: %w", err)
	}
	return o, plan, nil
}

// A Final is the whole of what an agent measured, which is what counts.
type Final struct {
	Result *result.Result `json:"result,omitempty"`
	Error  string         `json:"error,omitempty"` // why there is none
	Start  int64          `json:"start"`           // of the load, in ns of the agent's clock
	Late   int64          `json:"late"`            // ns, until its last thread was at work
	Why    string         `json:"why,omitempty"`   // it ended before it was through
}

// Close packs f.
func (f Final) Close() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(Encode(f)) // a buffer takes all
	w.Close()
	return b.Bytes()
}

// OpenFinal reads what Close packed.
func OpenFinal(b []byte) (*Final, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("an agent's result: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, BundleMax+1))
	if err != nil {
		return nil, fmt.Errorf("an agent's result: %w", err)
	}
	if len(text) > BundleMax {
		return nil, fmt.Errorf("an agent's result is longer than %d bytes", BundleMax)
	}
	f := new(Final)
	if err := strictly(text, f); err != nil {
		return nil, fmt.Errorf("an agent's result: %w", err)
	}
	if (f.Result == nil) == (f.Error == "") {
		return nil, errors.New("an agent's result: either it or why there is none must be there")
	}
	return f, nil
}
