package load

// A fifo is a queue that grows to what it once had to hold.
type fifo[T any] struct {
	ring       []T // its length a power of two
	first, len uint32
}

func newFIFO[T any](capacity int) fifo[T] {
	size := 1
	for size < capacity {
		size *= 2
	}
	return fifo[T]{ring: make([]T, size)}
}

func (f *fifo[T]) push(v T) {
	if int(f.len) == len(f.ring) {
		f.grow()
	}
	f.ring[(f.first+f.len)&uint32(len(f.ring)-1)] = v
	f.len++
}

// grow is not inlined, so that push is.
//
//go:noinline
func (f *fifo[T]) grow() {
	all := make([]T, 2*len(f.ring))
	for i := range f.len {
		all[i] = f.ring[(f.first+i)&uint32(len(f.ring)-1)]
	}
	f.ring, f.first = all, 0
}

func (f *fifo[T]) head() T { return f.ring[f.first&uint32(len(f.ring)-1)] }

func (f *fifo[T]) drop() {
	f.first++
	f.len--
}
