package experiment

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"dyno/internal/hole"
)

// A Folder is the run directory or, for processes of another user, a folder within it that belongs
// to that user. Each has all of a variant's files, so nobody but its owner needs to read it or
// write to it.
type Folder struct {
	User  string // "": dyno's own
	Path  string // absolute
	Files []File // to be written
	Copy  []File // likewise; Text is the path to copy from
}

// A File is a file of a Folder, with a path relative to it.
type File struct{ Path, Text string }

// foldersOf are the folders of the users of v's processes, in the order of the processes.
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

// userFolder is the folder of a user's processes.
func (r *renderer) userFolder(user string) string {
	return r.folders[slices.IndexFunc(r.folders, func(f Folder) bool { return f.User == user })].Path
}

// enterFolder makes the template words dir and file refer to that folder.
func (r *renderer) enterFolder(folder string) {
	r.words["dir"] = hole.Text(folder)
	r.words["file"] = wordOf("file", func(args []string) (string, error) {
		return filepath.Join(folder, filepath.FromSlash(args[0])), nil
	})
}

// socketFolders is the folder of each socket: that of the first process whose own templates mention
// it, because the process that listens starts first.
func (r *renderer) socketFolders(v Variant) map[string]string {
	all := map[string]string{}
	for _, p := range v.Processes {
		eachTemplate(reflect.ValueOf(p), "", func(_ string, t Template) {
			for _, m := range t.mentions() {
				name := strings.Join(m.Args, "")
				if _, named := all[name]; m.Word == "socket" && !named {
					all[name] = r.userFolder(p.User)
				}
			}
		})
	}
	return all
}

// fillFolders returns the folders with their files.
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
