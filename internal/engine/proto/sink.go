package proto

import "slices"

// A Want says what of each response a run's sinks are to be given.
type Want struct {
	Fields    []string // names of header and trailer fields, in lower case
	AllFields bool     // or all there are
	Body      int64    // bytes of the body, at most
}

// IsEmpty reports whether nothing is wanted.
func (w *Want) IsEmpty() bool { return len(w.Fields) == 0 && !w.AllFields && w.Body == 0 }

// WantsFields reports whether any field is wanted.
func (w *Want) WantsFields() bool { return w.AllFields || len(w.Fields) > 0 }

// WantsField reports whether the field is wanted. Its name is in lower case.
func (w *Want) WantsField(name []byte) bool {
	return w.AllFields ||
		slices.ContainsFunc(w.Fields, func(f string) bool { return f == string(name) })
}

// AppendLower appends the name of a field in lower case.
func AppendLower[T string | []byte](b []byte, name T) []byte {
	for i := range len(name) {
		x := name[i]
		if 'A' <= x && x <= 'Z' {
			x |= 0x20
		}
		b = append(b, x)
	}
	return b
}

// Cut is what is wanted of b, a piece of a body of which got bytes came before it.
func (w *Want) Cut(got int64, b []byte) []byte {
	return b[:min(int64(len(b)), max(w.Body-got, 0))]
}

// A Sink is given what a run wants of the responses on one connection, between the Encode of an
// exchange and its last event. What it is given does not depend on how the peer's bytes were split,
// but for how many pieces a body comes in. It has nothing of 1xx responses. Of an exchange that was
// canceled, or that is Refused, Failed or Broken, it may have had a part.
type Sink interface {
	// Field is given a wanted field of the final response: those of the header in their order
	// before the event Head, those of the trailer before Done. Of FastCGI, Status is no field. The
	// name is in lower case. Name and value must be copied to be kept.
	Field(tag uint32, name, value []byte, trailer bool)
	// Body is given the next bytes of the body, Want.Body in all at most. They must be copied to
	// be kept.
	Body(tag uint32, b []byte)
}
