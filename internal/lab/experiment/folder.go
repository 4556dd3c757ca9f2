package experiment

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// A Folder is the run directory or, for processes of another user, a folder within it that is
// that user's. Each has all of a variant's files: so nobody but its owner has to write into it,
// or to read it.
type Folder struct {
	User  string // "": dyno's own
	Path  string // absolute
	Files []File // to be written
	Copy  []File // likewise; Text is the path to copy from
}

// A File is one of a folder. Its path is relative to that.
type File struct{ Path, Text string }

// foldersOf are those that the processes of v are at home in, in their order.
func foldersOf(v Variant, dir string) (all []Folder) {
	users := make([]string, 0, len(v.Processes)+1)
	for _, p := range v.Processes {
		users = append(users, p.User)
	}
	if len(users) == 0 || v.Generator != nil {
		users = append(users, "")
	}
	for _, user := range users {
		if slices.ContainsFunc(all, func(f Folder) bool { return f.User == user }) {
			continue
		}
		path := dir
		if user != "" {
			path = filepath.Join(dir, fmt.Sprintf(".u%d", len(all)+1))
		}
		all = append(all, Folder{User: user, Path: path})
	}
	return all
}

// userFolder is where the processes of a user are at home.
func (r *renderer) userFolder(user string) string {
	return r.folders[slices.IndexFunc(r.folders, func(f Folder) bool { return f.User == user })].Path
}

// enterFolder has templates mean that folder by dir and file.
func (r *renderer) enterFolder(folder string) {
	r.words["dir"] = func() string { return folder }
	r.words["file"] = func(name string) string {
		return filepath.Join(folder, filepath.FromSlash(name))
	}
}

// socketFolders says where sockets lie: in the folder of the first process whose own templates
// name it, as the one that listens starts first.
func (r *renderer) socketFolders(v Variant) map[string]string {
	all := map[string]string{}
	for _, p := range v.Processes {
		eachTemplate(reflect.ValueOf(p), "", func(_ string, t Template) {
			found, _ := findMentions(string(t))
			for _, m := range found {
				name := strings.Join(m.args, "")
				if _, named := all[name]; m.verb == "socket" && !named {
					all[name] = r.userFolder(p.User)
				}
			}
		})
	}
	return all
}

// fillFolders is the folders with what belongs into each.
func (r *renderer) fillFolders(v Variant) []Folder {
	all := slices.Clone(r.folders)
	for i := range all {
		f := &all[i]
		r.enterFolder(f.Path)
		for _, e := range v.Files {
			f.Files = append(f.Files, File{filepath.FromSlash(e.Name), r.renderText(e.Value)})
		}
		for _, c := range v.Copy {
			from := filepath.FromSlash(c)
			if !filepath.IsAbs(from) {
				from = filepath.Join(r.here, from)
			}
			f.Copy = append(f.Copy, File{filepath.Base(from), from})
		}
	}
	return all
}
