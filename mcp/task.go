package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// TasksExtension is the identifier of the extension that tasks are (SEP-2663), among the extensions of a client's and a server's capabilities.
const TasksExtension = "io.modelcontextprotocol/tasks"

// Tasks turns tasks on, as Server.Tasks: a tools/call may then be answered with a task, whose work goes on after the answer, while the client asks how it is
// going with tasks/get, answers what it asks for with tasks/update, and ends it with tasks/cancel. Which tools do so is said by [Tool.Task], or by [RunTask]
// at run time. A request gets a task only if it declares the extension [TasksExtension] (revision 2026-07-28).
//
// The zero Tasks keeps all of it in memory, with limits. The fields must not be changed once the Server is in use.
type Tasks struct {
	// Store keeps the tasks. Nil: a [MemoryTasks].
	Store TaskStore
	// TTL is how long a task may take from its creation on, where neither the tool nor the client says more. 0: an hour, and a quarter of one for a
	// client without a principal, see [WithPrincipal], where whoever has the id has the task. A task that has not ended by then fails.
	TTL time.Duration
	// MaxTTL is the longest that a tool or a client can set. 0: a day.
	MaxTTL time.Duration
	// Linger is how long a task that has ended can be read at least. 0: five minutes.
	Linger time.Duration
	// Poll is the time between two tasks/get that clients are told, where the tool says no other. 0: a second.
	Poll time.Duration
	// Running is how many bodies run at the same time, 0: 64. More wait for their turn.
	Running int
	// MaxResult is the size of the largest result of a task in bytes, 0: [jsonrpc2.DefaultMaxFrame] less 64 KiB. A larger one fails the task.
	MaxResult int
	// Policy decides for a tool with [TaskMay] whether a call becomes a task, when the client takes one. Nil: it does.
	Policy func(ctx context.Context, tool string) bool
	// Lease is for a Store that several processes share: a process renews it while it works on a task, and when it is over the process counts as dead and
	// the task as failed, but for Resume. It is also how often, three times in it, a process learns that another has taken the cancellation of its task. 0: the Store is
	// this process's alone.
	Lease time.Duration
	// Resume goes on with a task whose process has died, the first time that somebody asks for it: it returns what is left to do, a body as that of
	// [RunTask], or nil if the task has failed. What the dead body has asked for, and nobody answered, is withdrawn. Nil: all of them have failed.
	Resume func(ctx context.Context, t Task) (body func(ctx context.Context) (any, error))
	// Experimental turns on what revision 2025-11-25 called tasks, too, for its clients: another protocol with the same tools.
	Experimental bool
}

// TaskSupport says whether the calls of a tool are tasks. On the wire it is the execution member of a tool, which only revision 2025-11-25 knows.
type TaskSupport uint8

// What a tool can say.
const (
	TaskNever TaskSupport = iota // calls are answered with their result
	TaskMay                      // a task for clients that take one, the result for others
	TaskMust                     // a task, and nothing for others
)

var supportNames = [...]string{"forbidden", "optional", "required"}

// MarshalJSON encodes the execution member (MCP 2025-11-25, ToolExecution).
func (s TaskSupport) MarshalJSON() ([]byte, error) {
	return []byte(`{"taskSupport":"` + supportNames[min(int(s), len(supportNames)-1)] + `"}`), nil
}

// UnmarshalJSON decodes the execution member. What it does not know is [TaskNever].
func (s *TaskSupport) UnmarshalJSON(text []byte) error {
	var v [1][]byte
	pick(text, []string{"taskSupport"}, v[:])
	name, _ := stringValue(v[0])
	*s = TaskSupport(max(slices.Index(supportNames[:], name), 0))
	return nil
}

// TaskStatus is where a task stands (MCP tasks, Task.status).
type TaskStatus string

// The states. A task begins as working, may wait for input and work on any number of times, and ends in one of the others, for good.
const (
	TaskWorking       TaskStatus = "working"
	TaskInputRequired TaskStatus = "input_required"
	TaskCompleted     TaskStatus = "completed" // with a result, be it that of a tool that failed
	TaskFailed        TaskStatus = "failed"    // with an error of the protocol
	TaskCancelled     TaskStatus = "cancelled"
)

// Terminal reports whether a task with that status has ended.
func (s TaskStatus) Terminal() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskCancelled
}

// Task is what a [TaskStore] keeps of a task. It encodes as JSON. Raw members are never changed in place, so copies may share them.
type Task struct {
	ID    string // 128 random bits, base64url; whoever has it has the task, if Owner is empty
	Owner string // the principal that created it, see [WithPrincipal]
	// Method and Tool say what it is the answer to.
	Method, Tool string
	// Experimental says that it belongs to the protocol of revision 2025-11-25, and ToolFailed that its result says that the tool failed.
	Experimental, ToolFailed bool

	Status           TaskStatus
	Message          string // for people
	Created, Updated time.Time
	TTL              time.Duration // from Created
	Expires          time.Time     // when the Store can forget it
	Lease            time.Time     // when whoever works on it counts as dead; zero: never
	Poll             time.Duration
	Bodies           int // that have worked on it before; what comes from one of them counts no more

	Capabilities json.RawMessage // what the client could do when it was created
	Requests     []TaskRequest   // what it asks for, and answers that were not fetched yet
	Serial       int             // of the last key
	Result       json.RawMessage // when completed
	Error        json.RawMessage // when failed: code, message, data

	Version uint64 // counts the updates; the Store's
}

// TaskRequest is something a task asks its client for.
type TaskRequest struct {
	Key    string // never used twice in one task
	Method string
	Params json.RawMessage // nil: none
	Answer json.RawMessage // nil: none yet
}

func (t *Task) request(key string) *TaskRequest {
	for i := range t.Requests {
		if t.Requests[i].Key == key {
			return &t.Requests[i]
		}
	}
	return nil
}

// withdraw takes requests out.
func (t *Task) withdraw(keys ...string) {
	t.Requests = slices.DeleteFunc(t.Requests, func(r TaskRequest) bool { return slices.Contains(keys, r.Key) })
}

// deadline is when it must have ended.
func (t *Task) deadline() time.Time { return t.Created.Add(t.TTL) }

// clone returns a copy that can be changed.
func (t *Task) clone() Task {
	c := *t
	c.Requests = slices.Clone(t.Requests)
	return c
}

// size is how many bytes of memory it takes, about.
func (t *Task) size() int {
	n := 512 + len(t.ID) + len(t.Owner) + len(t.Tool) + len(t.Message) + len(t.Capabilities) + len(t.Result) + len(t.Error)
	for i := range t.Requests {
		r := &t.Requests[i]
		n += 128 + len(r.Key) + len(r.Params) + len(r.Answer)
	}
	return n
}

// Errors of a [TaskStore].
var (
	// ErrNoTask is returned for an id that names no task, one that has expired, and one of another owner: nobody can tell which.
	ErrNoTask = errors.New("mcp: no such task")
	// ErrTaskExists is returned for an id that is taken.
	ErrTaskExists = errors.New("mcp: the task exists")
	// ErrTasksFull is returned when there is no room for a task, or for what it has become.
	ErrTasksFull = errors.New("mcp: too many tasks")
)

// TaskStore keeps tasks. All methods are called by many goroutines at once, and return when ctx ends at the latest. A Store that several processes share lets
// a client come to any of them; see [Tasks.Lease].
type TaskStore interface {
	// Create adds a task. When it returns nil, Get finds it, in whichever process. [ErrTaskExists] and [ErrTasksFull] are its refusals.
	Create(ctx context.Context, t Task) error
	// Get returns a task of that owner, or [ErrNoTask].
	Get(ctx context.Context, owner, id string) (Task, error)
	// Update changes a task: it calls f with a copy and stores what that has become, with the next Version, if nobody else has stored another meanwhile; else
	// f is called again. It returns what is stored. If f fails nothing is changed and its error returned. [ErrNoTask]: there is none.
	Update(ctx context.Context, id string, f func(*Task) error) (Task, error)
	// Delete forgets a task. That there is none is no error.
	Delete(ctx context.Context, id string) error
}

// TaskWatcher is a [TaskStore] that can say when tasks change. Without it answers are looked for four times a second, and no client is notified.
type TaskWatcher interface {
	// Watch returns a channel that gets a value when one of the tasks has changed, or is gone, until ctx ends. It has room for one value, and what does not
	// fit is dropped: who receives looks at all of them.
	Watch(ctx context.Context, ids []string) (<-chan struct{}, error)
}

// TaskLister is a [TaskStore] that can list tasks. Only revision 2025-11-25 has a use for that.
type TaskLister interface {
	// List returns at most n tasks of an owner, oldest first, from where cursor says, and the cursor of what follows: empty at the beginning, and at the
	// end. A cursor that is none of its own is an error.
	List(ctx context.Context, owner, cursor string, n int) ([]Task, string, error)
}

const (
	maxTaskRequests = 16      // open at the same time
	maxTaskMessage  = 1 << 10 // bytes
	maxTaskIDs      = 100     // in one listen
	maxTaskID       = 256     // bytes
	minTaskPoll     = 100 * time.Millisecond
	maxTaskPoll     = time.Minute
	minTaskTTL      = time.Second
)

// withDefaults fills in what is not set.
func (c Tasks) withDefaults() Tasks {
	or := func(p *time.Duration, d time.Duration) {
		if *p <= 0 {
			*p = d
		}
	}
	or(&c.MaxTTL, 24*time.Hour)
	or(&c.Linger, 5*time.Minute)
	or(&c.Poll, time.Second)
	c.Poll = clampPoll(c.Poll)
	if c.Running <= 0 {
		c.Running = 64
	}
	if c.MaxResult <= 0 {
		c.MaxResult = jsonrpc2.DefaultMaxFrame - 64<<10
	}
	if c.Store == nil {
		c.Store = new(MemoryTasks)
	}
	return c
}

func clampPoll(d time.Duration) time.Duration { return min(max(d, minTaskPoll), maxTaskPoll) }

// ttl is the time that a task gets if want is asked for, 0 for nothing.
func (c *Tasks) ttl(want time.Duration, owner string) time.Duration {
	switch {
	case want > 0:
	case c.TTL > 0:
		want = c.TTL
	case owner == "":
		want = 15 * time.Minute
	default:
		want = time.Hour
	}
	return min(max(want, minTaskTTL), c.MaxTTL)
}
