package data

import (
	"errors"
	"fmt"

	"dyno/internal/engine/scenario"
	"dyno/internal/fact"
)

// An Order says which row an iteration has.
type Order uint8

// The orders.
const (
	InOrder Order = iota // one after the other, from the first again after the last
	Random               // each as likely, drawn from the user's stream
	Once                 // each once in the whole run
	PerUser              // each user has one of its own: its number modulo the number of rows
)

// orderNames are the orders, as the command line has them.
var orderNames = []string{InOrder: "in-order", Random: "random", Once: "once", PerUser: "per-user"}

// OrderNames are the orders, as the command line has them.
func OrderNames() []string { return orderNames }

// String is the order, as the command line has it.
func (o Order) String() string { return orderNames[o] }

// ParseOrder is the order of that name.
func ParseOrder(name string) (Order, error) {
	for i, n := range orderNames {
		if n == name {
			return Order(i), nil
		}
	}
	return 0, fmt.Errorf("%q is not in-order, random, once or per-user", name)
}

// Check reports why the iterations of a share cannot have rows in this order. Once needs the number
// of iterations, because only then no two workers have the same position. It has no row for a
// warm-up, all of whose iterations would fail, as fast as they can be begun.
func (o Order) Check(s scenario.Share, rows int) error {
	if o != Once {
		return nil
	}
	last := s.FirstIteration + s.Iterations
	switch {
	case s.Warmup:
		return fact.Mended{Err: errors.New("a warm-up would need rows, and each is for a request of " +
			"the window"), Mend: []fact.Remedy{{Setting: "warmup", Value: fact.None}}}
	case s.Iterations == 0:
		return fact.Mended{Err: errors.New("each row once needs a number of requests"),
			Mend: []fact.Remedy{{Setting: "requests", Value: fmt.Sprintf("%d or less", rows)}}}
	case last > int64(rows):
		return fmt.Errorf("%d requests cannot have each row once: there are %d rows", last, rows)
	}
	return nil
}

// Row is the row, of so many, that a user's iteration at a place has: see scenario.Numbering. It
// has none if rows are used up, and none in the warm-up if each is used once.
func (o Order) Row(u *scenario.User, place int64, rows int) (row int, ok bool) {
	n := int64(rows)
	switch o {
	case Random:
		return u.Rand.IntN(rows), true
	case PerUser:
		return int(u.Number % n), true
	case Once:
		return int(place), !u.Warmup && place < n
	}
	return int(place % n), true
}
