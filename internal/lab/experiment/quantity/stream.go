package quantity

import (
	"encoding/json"

	"dyno/internal/engine/loadplan"
)

// A Stream says that answers are streams of events, and how these are read. It is written as its
// format, or with all its keys; the zero value says that they are none.
type Stream struct {
	Format string   `json:"format" required:"true"`
	Count  Texts    `json:"count,omitempty" text:"flow"`
	Tokens string   `json:"tokens,omitempty"`
	End    string   `json:"end,omitempty"`
	Error  string   `json:"error,omitempty"`
	Take   string   `json:"take,omitempty"` // "": users stay until its end
	Stall  Duration `json:"stall"`
}

// SetDefaults sets what is so without it.
func (s *Stream) SetDefaults() { *s = Stream{Stall: Duration(loadplan.StreamStall)} }

// UnmarshalText reads the short form, the format.
func (s *Stream) UnmarshalText(b []byte) error {
	s.Format = string(b)
	return nil
}

// Texts are one text, or a list of them.
type Texts []string

// UnmarshalText reads one text.
func (all *Texts) UnmarshalText(b []byte) error {
	*all = Texts{string(b)}
	return nil
}

// MarshalJSON writes one text as such, and several as a list.
func (all Texts) MarshalJSON() ([]byte, error) {
	if len(all) == 1 {
		return json.Marshal(all[0])
	}
	return json.Marshal([]string(all))
}
