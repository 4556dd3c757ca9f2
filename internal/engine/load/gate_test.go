package load

import "dyno/internal/engine/rendezvous"

type gate = rendezvous.Gate

func newGate(workers int) *gate { return rendezvous.NewGate(workers) }
