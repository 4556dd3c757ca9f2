package wire

import (
	"errors"
	"fmt"

	"github.com/nats-io/nkeys"

	"dyno/internal/engine/load"
	"dyno/internal/engine/metric"
)

// An Order is what an agent is to do: data, and no code. It names the agent and its life,
// so that nobody can show it to another, or once more after a restart; and what the agent
// has just said, so that nobody can keep it for later.
type Order struct {
	RunRef
	Agent        string `json:"agent"`
	Nonce        string `json:"nonce"` // of its Hello
	HelloHeardAt int64  `json:"heard"` // when that was, in ns of the controller's monotonic clock
	Version      string `json:"version"`
	Geometry     string `json:"geometry"`
	Plan         []byte `json:"plan"`    // as load.Pack packs it
	Threads      bool   `json:"threads"` // those of the plan are to be used, and not as many as cores
	MayReshard   bool   `json:"reshare"` // its share of the rate may become larger: all of it, at most
}

// signed is an Order or an Instruction as it is signed, and the signature. As all are read
// strictly, and have fields that others have not, none can be taken for another.
type signed struct {
	Text      []byte `json:"text"`
	Signature []byte `json:"signature"`
}

// Geometry is that of the histograms of this version, which there are, and how what is measured
// is told. Those of other agents must be the same, or they could not be added up: an agent that
// takes a 503 for an answer like any other has no histogram of errors.
func Geometry() string {
	return fmt.Sprintf("1 to %d ns, %d and %d digits, errors apart, finals in parts",
		int64(metric.Longest), metric.Fine, metric.Coarse)
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

// OpenOrder reads what Seal made, with the private curve key, and fails unless verify accepts
// the signature. Nothing that was not signed is looked into.
func OpenOrder(sealed []byte, from string, key nkeys.KeyPair,
	verify func(order, signature []byte) error) (Order, load.Plan, error) {
	var o Order
	b, err := key.Open(sealed, from)
	if err != nil {
		return o, load.Plan{}, errors.New("the plan was damaged on its way, or is for another agent")
	}
	var s signed
	if err := decodeStrict(b, &s, messageValuesMax); err != nil {
		return o, load.Plan{}, err
	}
	if err := verify(s.Text, s.Signature); err != nil {
		return o, load.Plan{}, err
	}
	if err := decodeStrict(s.Text, &o, messageValuesMax); err != nil {
		return o, load.Plan{}, err
	}
	plan, err := load.Unpack(o.Plan)
	if err != nil {
		return o, plan, fmt.Errorf("reading the plan: %w", err)
	}
	return o, plan, nil
}
