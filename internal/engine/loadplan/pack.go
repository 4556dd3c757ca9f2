package loadplan

import (
	"bytes"
	"encoding/gob"
	"errors"
)

// Pack is a plan with all that is in it, for a generator in another process: its JSON
// leaves out what is not for the eyes of people. A scenario that is Go code cannot be packed, and a
// Log stays in this process.
func Pack(p Plan) ([]byte, error) {
	if p.Scenario != nil {
		return nil, errors.New("a scenario that is Go code runs in this process alone")
	}
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(p)
	return b.Bytes(), err
}

// Unpack reads what Pack wrote.
func Unpack(b []byte) (p Plan, err error) {
	err = gob.NewDecoder(bytes.NewReader(b)).Decode(&p)
	return p, err
}
