package flow

// A FIFO is a queue that never shrinks.
type FIFO[T any] struct {
	ring       []T // its length a power of two
	begin, Len uint32
}

// NewFIFO returns an empty queue with room for so many values before it grows.
func NewFIFO[T any](capacity int) FIFO[T] {
	size := 1
	for size < capacity {
		size *= 2
	}
	return FIFO[T]{ring: make([]T, size)}
}

func (f *FIFO[T]) PushBack(v T) {
	if int(f.Len) == len(f.ring) {
		f.grow()
	}
	f.ring[(f.begin+f.Len)&uint32(len(f.ring)-1)] = v
	f.Len++
}

// grow is not inlined, so that push is.
//
//go:noinline
func (f *FIFO[T]) grow() {
	all := make([]T, 2*len(f.ring))
	for i := range f.Len {
		all[i] = f.ring[(f.begin+i)&uint32(len(f.ring)-1)]
	}
	f.ring, f.begin = all, 0
}

func (f *FIFO[T]) First() T { return f.ring[f.begin&uint32(len(f.ring)-1)] }

func (f *FIFO[T]) DropHead() {
	f.begin++
	f.Len--
}
