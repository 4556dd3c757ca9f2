//go:build amd64 || arm64

package target

// A job is a request that is being served, or waits to be.
type job struct {
	end   int64 // of its service
	order uint64
	conn  *conn
}

// jobs is a heap, the job that ends first at its top.
type jobs []job

func (j jobs) isBefore(a, b int) bool {
	if j[a].end != j[b].end {
		return j[a].end < j[b].end
	}
	return j[a].order < j[b].order
}

func (j *jobs) pushJob(added job) {
	*j = append(*j, added)
	h := *j
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.isBefore(i, up) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (j *jobs) popJob() job {
	h := *j
	top, last := h[0], len(h)-1
	h[0], h[last] = h[last], job{}
	h = h[:last]
	*j = h
	for i := 0; ; {
		first := i
		for down := 2*i + 1; down <= 2*i+2 && down < last; down++ {
			if h.isBefore(down, first) {
				first = down
			}
		}
		if first == i {
			return top
		}
		h[i], h[first] = h[first], h[i]
		i = first
	}
}
