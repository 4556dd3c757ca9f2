package capacity

import (
	"encoding/json"
	"fmt"
)

// Decode reads what a search or a sweep wrote as JSON: one of the two is not nil. known is false,
// without an error, if b is of another format.
func Decode(b []byte) (s *Search, c *Curve, known bool, err error) {
	var head struct {
		Format string `json:"format"`
	}
	if json.Unmarshal(b, &head) != nil {
		return nil, nil, false, nil
	}
	switch head.Format {
	case Format:
		s = new(Search)
		err = json.Unmarshal(b, s)
	case SweepFormat:
		c = new(Curve)
		err = json.Unmarshal(b, c)
	default:
		return nil, nil, false, nil
	}
	if err != nil {
		err = fmt.Errorf("damaged, of format %s: %w", head.Format, err)
	}
	return s, c, true, err
}
