// ---- saving: the recording of package logging, as far as it is here

function* lines() {
  const at = t => new Date(t).toISOString().slice(0, -1) + String(Math.floor((t % 1) * 1000)).padStart(3, '0') + 'Z';
  const first = view.length ? view[0].t : Date.now();
  yield JSON.stringify({ time: at(first), kind: 'header', format: 'tandem-traffic', version: 1, program: $('program').textContent });
  const all = [];
  for (const row of view) {
    all.push([row.seq, row, row, row.out]);
    if (row.res) all.push([row.res.seq, row, row.res, !row.out]);
  }
  all.sort((a, b) => a[0] - b[0]);
  for (const [, row, part, out] of all) {
    const line = { time: at(part.t), connection: row.conn };
    if (row.kind === 'open') {
      const about = names.get(row.conn) || {};
      Object.assign(line, { kind: 'open', protocol: about.protocol || undefined, client: about.client || undefined, cancel: about.cancel });
    }
    else if (row.kind === 'close') Object.assign(line, { kind: 'close', message: part.text || undefined });
    else if (row.kind === 'lost') Object.assign(line, { kind: 'dropped', count: parseInt(row.method, 10) });
    else Object.assign(line, { direction: out ? 'outbound' : 'inbound', unit: part === row && row.unit || undefined, length: part.length, message: part.text, truncated: part.cut || undefined });
    yield JSON.stringify(line);
  }
}

function save() {
  const parts = [];
  let part = '';
  for (const line of lines()) {
    part += line + '\n';
    if (part.length > 1 << 20) { parts.push(part); part = ''; }
  }
  parts.push(part);
  const a = document.createElement('a');
  a.href = URL.createObjectURL(new Blob(parts, { type: 'application/x-ndjson' }));
  a.download = 'traffic-' + new Date().toISOString().replace(/[:.]/g, '-').slice(0, 19) + '.jsonl';
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60000);
}

// ---- drawing

let asking = false, lastPlot = 0;

function draw() {
  if (asking) return;
  asking = true;
  requestAnimationFrame(() => {
    asking = false;
    if (refilter) { view = rows.filter(test); refilter = false; dirty = true; }
    if (dirty) {
      dirty = false;
      drawRows();
      if (selected && !selected.gone) refresh();
      const ms = $('found').dataset.ms;
      put($('found'), filtered ? view.length.toLocaleString('en') + ' of ' + rows.length.toLocaleString('en') + (ms ? ' in ' + ms + ' ms' : '') : '');
      put($('totals'), messages.toLocaleString('en') + ' messages, ' + conns.size + (conns.size === 1 ? ' connection' : ' connections') +
        (lost ? ', ' + lost.toLocaleString('en') + ' not shown' : ''));
    }
    const now = performance.now();
    if (plots && now - lastPlot > 240) {
      plots = false;
      lastPlot = now;
      drawPlots();
    }
  });
}

// refresh shows the answer to the message that is being looked at when it comes.
let seen = '';
function refresh() {
  const state = [selected.seq, !!selected.res, selected.run, selected.cancelled].join();
  if (state !== seen && seen.split(',')[0] === String(selected.seq)) detail(selected);
  seen = state;
}

setInterval(() => {
  if (document.hidden) return;
  plots = plots || (live && !paused); // time goes on
  if (plots) draw();
}, 250);

// ---- live

let source = null, live = false;

function state(text, name) {
  put($('state'), text);
  $('dot').className = 'dot ' + name;
}

function connect() {
  source = new EventSource('events' + (seq ? '?after=' + seq : ''));
  source.addEventListener('hello', m => {
    const h = JSON.parse(m.data);
    maxMessages = h.maxMessages;
    maxBytes = h.maxBytes;
    document.title = h.program + ' traffic';
    put($('program'), h.program);
    if (!seq) for (const e of h.conns) apply(e);
    live = true;
    state('live', 'on');
    dirty = true;
    draw();
  });
  source.addEventListener('gap', m => {
    lost += Number(m.data);
    dirty = true;
  });
  source.addEventListener('events', m => {
    const events = JSON.parse(m.data);
    for (const e of events) if (e.s > seq) apply(e);
    trim();
    dirty = plots = true;
    draw();
  });
  source.onerror = () => {
    live = false;
    if (source.readyState === EventSource.CLOSED) {
      state('the server has gone; what is here stays', 'off');
    } else state('reconnecting', '');
    draw();
  };
}

function pause(on) {
  if (on === paused) return;
  paused = on;
  $('pause').setAttribute('aria-pressed', on);
  put($('pause'), on ? 'Resume' : 'Pause');
  if (on) {
    source.close();
    state('paused', '');
  } else {
    state('connecting', '');
    connect();
  }
  dirty = plots = true;
  draw();
}

// ---- hands

$('pause').addEventListener('click', () => pause(!paused));
$('save').addEventListener('click', save);
$('clear').addEventListener('click', () => {
  rows = [];
  view = [];
  messages = bytes = lost = 0;
  asked = new Map();
  units = new Map();
  unanswered = new Map();
  methods.clear();
  choices.clear();
  $('method').length = 1;
  select(null);
});
$('close').addEventListener('click', () => { select(null); list.focus(); });
$('filters').addEventListener('submit', e => e.preventDefault());
for (const id of ['method', 'conn', 'kind']) $(id).addEventListener('change', filter);
$('window').addEventListener('change', () => { plots = true; lastPlot = 0; draw(); });
let typing = 0;
$('text').addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(filter, 80);
});
list.addEventListener('scroll', () => {
  const top = list.scrollTop;
  if (top < lastTop - 1) follow = false;
  if (top + list.clientHeight >= list.scrollHeight - 2) follow = true; // of what is drawn: more may have come
  lastTop = top;
  dirty = true;
  draw();
}, { passive: true });
new ResizeObserver(() => { dirty = plots = true; draw(); }).observe(document.body);

function move(by) {
  if (!view.length) return;
  let at = selected ? view.indexOf(selected) : -1;
  if (at < 0 && Math.abs(by) >= 1e9) at = 0; // Home and End lead to an end from anywhere
  at = at < 0 ? (by > 0 ? Math.floor(list.scrollTop / rowHeight) : view.length - 1) : Math.max(0, Math.min(view.length - 1, at + by));
  const top = at * rowHeight;
  select(view[at]);
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight - list.clientHeight;
}

$('line').addEventListener('click', e => {
  const x = e.offsetX, y = e.offsetY, bar = bars.findLast(b => x >= b.a - 2 && x <= b.b + 2 && y >= b.y - 1 && y <= b.y + 8);
  if (!bar) return;
  select(bar.row);
  list.scrollTop = view.indexOf(bar.row) * rowHeight - list.clientHeight / 2;
});

list.addEventListener('keydown', e => {
  const page = Math.max(1, Math.floor(list.clientHeight / rowHeight) - 1);
  const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 }[e.key];
  if (by !== undefined) { e.preventDefault(); move(by); }
  else if (e.key === 'Enter' && selected) $('detail-title').focus();
});
document.addEventListener('keydown', e => {
  if (e.key === 'Escape' && selected) { select(null); list.focus(); }
  else if (e.target.matches('input') || e.ctrlKey || e.metaKey || e.altKey) return;
  else if (e.key === '/') { e.preventDefault(); $('text').focus(); }
  else if (e.key === 'p' && !e.target.matches('select')) pause(!paused);
});

connect();
