package loadplan

import "testing"

func TestNamed(t *testing.T) {
	f := Flaw{"CertFile, KeyFile", "needs {KeyFile}; {x} is no field, {Rate} is", ""}
	if got := f.Error(); got != "CertFile, KeyFile: needs KeyFile; {x} is no field, Rate is" {
		t.Error(got)
	}
	some := func(field string) string { return map[string]string{"KeyFile": "--key"}[field] }
	if got := f.Named(some).Error(); got != "--key: needs --key; {x} is no field, Rate is" {
		t.Error(got)
	}
	if got := (Flaw{Setting: "Rate", Problem: "is 0"}).Named(some).Error(); got != "Rate: is 0" {
		t.Error(got)
	}
}
