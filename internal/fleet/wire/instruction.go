package wire

import "fmt"

// An Instruction is a command that begins, continues, changes or ends a load. It is signed,
// because the bus may belong to somebody else. It cannot be replayed: it names the agent, its
// process and the run, its number grows, and it expires. Heartbeats are instructions too, because
// recorded ones must not keep a load alive. Acknowledgements and clock queries are not signed:
// they change no load.
type Instruction struct {
	RunRef          // a Heartbeat has no Epoch
	Agent    string `json:"agent"`
	Verb     string `json:"verb"`
	Number   int64  `json:"number"`          // larger than of all before it in the run
	SentAt   int64  `json:"said"`            // in ns of the controller's monotonic clock
	Start    int64  `json:"start,omitempty"` // of the load, in ns of the agent's monotonic clock
	NewShard *Shard `json:"changes,omitempty"`
	Stop     *Stop  `json:"ends,omitempty"`
}

// EncodeSigned returns i as it is sent, with its signature.
func (i Instruction) EncodeSigned(sign func([]byte) ([]byte, error)) ([]byte, error) {
	s := signed{Text: Encode(i)}
	var err error
	if s.Signature, err = sign(s.Text); err != nil {
		return nil, fmt.Errorf("signing an instruction: %w", err)
	}
	return Encode(s), nil
}

// ParseInstruction decodes what EncodeSigned made. If verify does not accept the signature, that
// is the error, and i must not be trusted.
func ParseInstruction(b []byte, verify func(text, signature []byte) error) (i Instruction,
	err error) {
	var s signed
	if err := Decode(b, &s); err != nil {
		return i, err
	}
	if err := decodeStrict(s.Text, &i, messageShape); err != nil {
		return i, err
	}
	return i, verify(s.Text, s.Signature)
}
