package load

// A fifo is a queue that never shrinks.
type fifo[T any] struct {
	ring       []T // its length a power of two
	begin, len uint32
}

func newFIFO[T any](capacity int) fifo[T] {
	size := 1
	for size < capacity {
		size *= 2
	}
	return fifo[T]{ring: make([]T, size)}
}

func (f *fifo[T]) pushBack(v T) {
	if int(f.len) == len(f.ring) {
		f.grow()
	}
	f.ring[(f.begin+f.len)&uint32(len(f.ring)-1)] = v
	f.len++
}

// grow is not inlined, so that push is.
//
//go:noinline
func (f *fifo[T]) grow() {
	all := make([]T, 2*len(f.ring))
	for i := range f.len {
		all[i] = f.ring[(f.begin+i)&uint32(len(f.ring)-1)]
	}
	f.ring, f.begin = all, 0
}

func (f *fifo[T]) first() T { return f.ring[f.begin&uint32(len(f.ring)-1)] }

func (f *fifo[T]) dropHead() {
	f.begin++
	f.len--
}
