package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nkeys"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/unpack"
)

// An Order is a plan for an agent: data, no code. It names the agent and its process, so that it
// is of no use to another or after a restart. It contains a nonce of the agent, so that it cannot
// be kept for later.
type Order struct {
	RunRef
	Agent        string `json:"agent"`
	Nonce        string `json:"nonce"` // of the agent's Hello
	HelloHeardAt int64  `json:"heard"` // when that came, in ns of the controller's monotonic clock
	Version      string `json:"version"`
	Geometry     string `json:"geometry"`
	Threads      bool   `json:"threads"` // use the plan's threads; else one for each core
	MayReshard   bool   `json:"reshare"` // its shard may become larger, up to the whole

	Plan json.RawMessage `json:"plan"` // as loadplan.Pack packs it
}

// A signed is an Order or an Instruction in its signed form. Both are decoded strictly and have
// fields that the other lacks, so neither can be taken for the other.
type signed struct {
	Text      []byte `json:"text"`
	Signature []byte `json:"signature"`
}

// Geometry describes this build's histograms, and the form of its finals and plans. Agents must
// have the same, or their results cannot be merged: for example, an agent that counts a 503 like
// other answers has no histogram of errors. A plan of another form could not be read.
func Geometry() string {
	return fmt.Sprintf("1 to %d ns, %d and %d digits, errors apart, finals as counted, plans in JSON",
		int64(metric.Longest), metric.Fine, metric.Coarse)
}

// Seal signs the order and encrypts it to the public curve key to, because a plan may contain
// secrets. from is the public key that OpenOrder needs.
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

// orderDepth is how deep the values of an order may lie: those of plans are at most 8 deep.
const orderDepth = 64

// OpenOrder decrypts what Seal made with the private curve key. It fails unless verify accepts
// the signature, and decodes nothing that is not signed.
func OpenOrder(sealed []byte, from string, key nkeys.KeyPair,
	verify func(order, signature []byte) error) (Order, loadplan.Plan, error) {
	var o Order
	b, err := key.Open(sealed, from)
	if err != nil {
		return o, loadplan.Plan{}, errors.New("the plan was damaged on its way, or is for another agent")
	}
	var s signed
	if err := decodeStrict(b, &s, messageShape); err != nil {
		return o, loadplan.Plan{}, err
	}
	if err := verify(s.Text, s.Signature); err != nil {
		return o, loadplan.Plan{}, err
	}
	// Its values beside the plan are few, for it has no lists; those of the plan unpack limits.
	n := len(s.Text)
	if err := decodeStrict(s.Text, &o, shape{values: n, list: n, depth: orderDepth}); err != nil {
		return o, loadplan.Plan{}, err
	}
	plan, err := unpack.Plan(o.Plan)
	if err != nil {
		return o, plan, fmt.Errorf("reading the plan: %w", err)
	}
	return o, plan, nil
}
