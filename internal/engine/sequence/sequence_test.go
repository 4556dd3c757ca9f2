package sequence

import (
	"slices"
	"testing"
)

func TestOrder(t *testing.T) {
	for _, tc := range []struct {
		weights []int
		want    []uint32
	}{
		{nil, []uint32{}},
		{[]int{1, 1, 1}, []uint32{0, 1, 2}},
		{[]int{5}, []uint32{0}},
		{[]int{0, 2}, []uint32{1, 0, 1}},
		{[]int{4, 2}, []uint32{0, 1, 0}},
		{[]int{3, 1}, []uint32{0, 0, 1, 0}},
	} {
		if got := Order(tc.weights); !slices.Equal(got, tc.want) {
			t.Errorf("%v: %v, want %v", tc.weights, got, tc.want)
		}
	}
	if n := len(Order([]int{1 << 30, 1<<30 - 1})); n > longest {
		t.Errorf("%d entries", n)
	}
}
