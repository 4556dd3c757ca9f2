package proto

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"
)

// An Event is returned several times for each response: it must travel in
// registers, which takes at most four fields at each level and four words.
func TestEventFitsRegisters(t *testing.T) {
	for _, v := range []any{Event{}, What{}} {
		typ := reflect.TypeOf(v)
		if typ.NumField() > 4 || typ.Size() > 32 { // four words where speed matters
			t.Errorf("%v: %d fields, %d bytes", typ, typ.NumField(), typ.Size())
		}
	}
}

func TestFault(t *testing.T) {
	err := fmt.Errorf("somewhere: %w", &Fault{Kind: FaultRecord, Detail: "why", Err: io.ErrNoProgress})
	var f *Fault
	if !errors.As(err, &f) || f.Kind != FaultRecord || f.Error() != "why" {
		t.Errorf("%+v", f)
	}
	if !errors.Is(err, io.ErrNoProgress) {
		t.Error("the cause is lost")
	}
}
