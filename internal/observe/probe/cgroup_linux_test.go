package probe

import "testing"

func TestInMount(t *testing.T) {
	for _, c := range [][4]string{
		{"/sys/fs/cgroup", "/", "/", "/sys/fs/cgroup"},
		{"/sys/fs/cgroup", "/", "/a/b", "/sys/fs/cgroup/a/b"},
		{"/sys/fs/cgroup", "/docker/1", "/docker/1", "/sys/fs/cgroup"},
		{"/sys/fs/cgroup", "/docker/1", "/docker/1/x", "/sys/fs/cgroup/x"},
		{"/sys/fs/cgroup", "/docker/1", "/other", "/sys/fs/cgroup"},
	} {
		if got := pathInMount(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%v: %s", c, got)
		}
	}
}
