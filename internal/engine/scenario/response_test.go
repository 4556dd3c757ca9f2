package scenario

import (
	"errors"
	"slices"
	"testing"
)

func TestResponse(t *testing.T) {
	var r Response
	for round := range 2 { // the second in the memory of the first
		r.Reset()
		r.AddField([]byte("set-cookie"), []byte("a=1"), false)
		r.AddField([]byte("set-cookie"), []byte("b=2"), false)
		r.AddField([]byte("x-empty"), nil, false)
		r.AddField([]byte("x-sum"), []byte("7"), true)
		r.AddBody([]byte("hel"))
		r.AddBody([]byte("lo"))
		r.BodyBytes = 5 + int64(round)
		var got []string
		for i := range r.Fields() {
			name, value, trailer := r.FieldAt(i)
			text := string(name) + "=" + string(value)
			if trailer {
				text += " (trailer)"
			}
			got = append(got, text)
		}
		want := []string{"set-cookie=a=1", "set-cookie=b=2", "x-empty=", "x-sum=7 (trailer)"}
		if !slices.Equal(got, want) {
			t.Errorf("fields %q, want %q", got, want)
		}
		if first := r.Field("set-cookie"); string(first) != "a=1" {
			t.Errorf("the first cookie is %q", first)
		}
		if r.Field("x-empty") == nil || r.Field("x-none") != nil {
			t.Errorf("an empty field %v, one that is not there %v", r.Field("x-empty"), r.Field("x-none"))
		}
		if string(r.Body) != "hello" || r.Truncated() != (round == 1) {
			t.Errorf("body %q of %d bytes: truncated %v", r.Body, r.BodyBytes, r.Truncated())
		}
	}
}

func TestChecks(t *testing.T) {
	var r Response
	if r.FailedCheck() != -1 || !r.Check(3, true) || r.FailedCheck() != -1 {
		t.Errorf("%v", r.Checks())
	}
	if r.Check(2, false) || r.Check(1, false) || r.FailedCheck() != 2 {
		t.Errorf("the first that failed is %d of %v", r.FailedCheck(), r.Checks())
	}
	r.CheckError(4, nil)
	if r.Reason() != nil {
		t.Errorf("a check that passed has the reason %v", r.Reason())
	}
	first := errors.New("first")
	r.CheckError(5, first)
	if r.CheckError(6, errors.New("second")); r.Reason() != first || len(r.Checks()) != 6 {
		t.Errorf("the reason is %v of %v", r.Reason(), r.Checks())
	}
	if r.Reset(); len(r.Checks()) != 0 || r.FailedCheck() != -1 || r.Reason() != nil {
		t.Errorf("after Reset: %v", r.Checks())
	}
}
