package keys

import (
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
)

// A struct that lacks the field of a key is a mistake that is said, not another value.
func TestLackingKey(t *testing.T) {
	var none struct{}
	p := loadplan.DefaultPlan()
	const want = "level.connections: struct {} has no key connections"
	if err := SetPlan(&p, "level", none, none); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if err := Take(&none, "level", &p, map[string]bool{"connections": true}); err == nil {
		t.Error("taken by no field")
	}
}
