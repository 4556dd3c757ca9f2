package wire

import "fmt"

// An Instruction is a command that bears on load: it has one begin, go on, change or end.
// It is signed, for the bus may be somebody else's; and of no use to who has recorded it,
// for it names the agent, one of its lives and one run there, counts up, and grows old.
type Instruction struct {
	RunRef          // a Beat has no Epoch: it is for all
	Agent    string `json:"agent"`
	Verb     string `json:"verb"`
	Number   int64  `json:"number"`          // larger than of those before it in the run
	SentAt   int64  `json:"said"`            // when, in ns of the controller's monotonic clock
	Start    int64  `json:"start,omitempty"` // of the load, in ns of the agent's monotonic clock
	NewShard *Shard `json:"changes,omitempty"`
	Stop     *Stop  `json:"ends,omitempty"`
}

// EncodeSigned is i as it is sent.
func (i Instruction) EncodeSigned(sign func([]byte) ([]byte, error)) ([]byte, error) {
	s := signed{Text: Encode(i)}
	var err error
	if s.Signature, err = sign(s.Text); err != nil {
		return nil, fmt.Errorf("signing an instruction: %w", err)
	}
	return Encode(s), nil
}

// ParseInstruction reads what Sign made, and fails unless verify accepts the signature. Then
// there is still what it says, as nobody's word.
func ParseInstruction(b []byte, verify func(text, signature []byte) error) (i Instruction,
	err error) {
	var s signed
	if err := Decode(b, &s); err != nil {
		return i, err
	}
	if err := decodeStrict(s.Text, &i, messageValuesMax); err != nil {
		return i, err
	}
	return i, verify(s.Text, s.Signature)
}
