package notes

import (
	"testing"

	"github.com/tandem-rpc/tandem/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }
