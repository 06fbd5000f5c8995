package doccheck

import (
	"path/filepath"
	"sync"
	"testing"
)

// here is this project's own checkout.
var here = struct {
	sync.Once
	*checkout
}{}

func thisCheckout(t *testing.T) *checkout {
	t.Helper()
	here.Do(func() {
		root, err := filepath.Abs("../../..")
		if err != nil {
			t.Fatal(err)
		}
		here.checkout = readCheckout(t, root)
	})
	return here.checkout
}

func none(t *testing.T, wrong []string) {
	t.Helper()
	for _, w := range wrong {
		t.Error(w)
	}
}

func TestLinksLeadSomewhere(t *testing.T) { none(t, thisCheckout(t).brokenLinks()) }

func TestCommandsInDocumentsExist(t *testing.T) { none(t, thisCheckout(t).badCommands()) }

func TestTableOfImportsIsRight(t *testing.T) { none(t, thisCheckout(t).badImports()) }
func TestTableOfFoldersIsRight(t *testing.T) { none(t, thisCheckout(t).badFolders()) }

func TestWorkflowsRunWhatTheReadmeSays(t *testing.T) { none(t, thisCheckout(t).workflows()) }

func TestFrontFolderIsComplete(t *testing.T) { none(t, thisCheckout(t).packaging()) }

func TestNamesInDocumentsExist(t *testing.T) { none(t, thisCheckout(t).unknownNames()) }

func TestCodeInDocumentsIsInAFile(t *testing.T) { none(t, thisCheckout(t).snippets()) }
