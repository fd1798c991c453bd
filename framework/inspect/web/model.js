const $ = id => document.getElementById(id);
const rowHeight = 24;

// A row is a request with its answer, or any other message, or something that happened to a connection.
class Row {
  constructor(e) {
    this.seq = e.s;
    this.t = e.t;
    this.kind = e.k;
    this.conn = e.c || '';
    this.out = !!e.o;
    this.method = e.m || '';
    this.id = e.i || '';
    this.code = e.e || 0;
    this.unit = e.u || 0;
    this.length = e.n || 0;
    this.text = e.d === undefined ? '' : e.d;
    this.cut = !!e.cut;
    this.res = null;
    this.queued = -1;
    this.run = -1;
    this.total = -1;
    this.cancelled = false;
    this.gaveUp = 0;
    this.ended = false;
    this.gone = false;
  }
}

// What there is.
let rows = [], view = [], messages = 0, bytes = 0, lost = 0, seq = 0;
let maxMessages = 100000, maxBytes = 64 << 20;
let asked = new Map();  // connection, sender and id: the last request
let units = new Map();  // connection and unit: what came in it and has no times yet
const conns = new Map(); // name: what is known of it, until it ends
const names = new Map(); // name: the same, as long as it can be chosen
let unanswered = new Map(); // connection: its requests without answer
const methods = new Map(); // name: how many rows have it
const choices = new Map(); // name: its option, of the methods that can be chosen

// What is shown.
let paused = false, selected = null, follow = true, dirty = true, plots = true, test = () => true, filtered = false;

const size = row => 240 + row.text.length + row.method.length + row.id.length;

function apply(e) {
  seq = Math.max(seq, e.s);
  switch (e.k) {
    case 'timing': return time(e);
    case 'open': {
      const about = { protocol: e.p || '', client: e.a || '', cancel: e.w }, known = [e.p, e.a].filter(Boolean).join(', ');
      const before = names.get(e.c);
      about.choice = before ? before.choice : new Option('', e.c);
      put(about.choice, e.c + (known ? ' (' + known + ')' : ''));
      conns.set(e.c, about);
      names.set(e.c, about);
      if (!before) {
        forgetNames();
        $('conn').append(about.choice);
      }
      e.m = 'connection opened' + (known ? ', ' + known : '');
      break;
    }
    case 'close':
      conns.delete(e.c);
      end_of(e.c);
      e.m = 'connection closed' + (e.d ? ': ' + e.d : '');
      break;
    case 'lost':
      lost += e.count;
      e.m = e.count + ' messages not shown: too many at once';
      break;
    case 'result': case 'error': {
      const row = asked.get(key(e.c, !e.o, e.i));
      if (row && !row.res) return answer(row, e);
      break;
    }
  }
  const row = new Row(e);
  if (e.k === 'open' || e.k === 'close' || e.k === 'lost') row.text = e.d || '';
  rows.push(row);
  bytes += size(row);
  if (row.kind === 'request' || row.kind === 'note') {
    messages++;
    const n = methods.get(row.method);
    if (n === undefined && row.method && !choices.has(row.method) && choices.size < 500) {
      choices.set(row.method, new Option(row.method, row.method));
      $('method').append(choices.get(row.method));
    }
    methods.set(row.method, (n || 0) + 1);
    if (row.unit) {
      const k = row.conn + '\n' + row.unit, others = units.get(k);
      if (others === undefined) units.set(k, row);
      else if (Array.isArray(others)) others.push(row);
      else units.set(k, [others, row]);
    }
    if (row.kind === 'request') {
      asked.set(key(row.conn, row.out, row.id), row);
      const waiting = unanswered.get(row.conn);
      if (waiting) waiting.add(row); else unanswered.set(row.conn, new Set([row]));
    } else if (e.x) {
      const unwanted = asked.get(key(row.conn, row.out, e.x));
      row.id = e.x;
      if (unwanted && !unwanted.res) { unwanted.cancelled = true; unwanted.gaveUp = e.t; }
    }
  } else if (row.kind !== 'open' && row.kind !== 'close' && row.kind !== 'lost') messages++;
  if (test(row)) view.push(row);
}

const key = (conn, out, id) => conn + (out ? '\n>' : '\n<') + id;

function answer(row, e) {
  row.res = { seq: e.s, t: e.t, code: e.k === 'error' ? e.e || -1 : 0, text: e.d || '', length: e.n || 0, cut: !!e.cut };
  row.total = e.t - row.t;
  settled(row);
  messages++;
  bytes += row.res.text.length + 100;
  if (filtered && test(row) && !view.includes(row, Math.max(0, view.length - 1000))) refilter = true;
}
let refilter = false;

function settled(row) {
  const waiting = unanswered.get(row.conn);
  if (waiting && waiting.delete(row) && waiting.size === 0) unanswered.delete(row.conn);
}

function time(e) {
  let row = null;
  if (e.u) {
    const k = e.c + '\n' + e.u, found = units.get(k);
    row = Array.isArray(found) ? found.find(r => r.id === (e.i || '') && r.run < 0) : found;
    if (row && (!Array.isArray(found) || found.every(r => r === row || r.run >= 0))) units.delete(k);
  } else row = asked.get(key(e.c, false, e.i));
  if (!row) return;
  row.queued = (e.q || 0) / 1e6;
  row.run = (e.r || 0) / 1e6;
  if (row.run === 0) row.run = 1e-6;
}

// end_of leaves requests of a connection unanswered for good.
function end_of(conn) {
  for (const row of unanswered.get(conn) || []) row.ended = true;
  unanswered.delete(conn);
}

// forgetNames lets go of the oldest connections that have ended, where there are many to choose from.
const maxNames = 500;
function forgetNames() {
  for (const [name, { choice }] of names) {
    if (names.size <= maxNames) return;
    if (conns.has(name) || choice.selected) continue;
    names.delete(name);
    choice.remove();
  }
}

// label is the name of a connection in little room: who the client is, and of a session its own part.
function label(conn) {
  const about = names.get(conn), at = conn.lastIndexOf('/');
  if (!about || !about.client) return conn;
  return about.client.replace(/ \S*$/, '') + ' ' + conn.slice(at + 1);
}

// trim forgets the oldest, as the server has.
function trim() {
  if (messages <= maxMessages && bytes <= maxBytes) return;
  let n = 0;
  while (n < rows.length - 1 && (messages > maxMessages * 0.98 || bytes > maxBytes * 0.98)) {
    const row = rows[n++];
    row.gone = true;
    settled(row);
    bytes -= size(row);
    if (row.res) { bytes -= row.res.text.length + 100; messages--; }
    if (row.kind !== 'open' && row.kind !== 'close' && row.kind !== 'lost') messages--;
    const k = key(row.conn, row.out, row.id);
    if (asked.get(k) === row) asked.delete(k);
    if (row.unit) units.delete(row.conn + '\n' + row.unit);
    if (row.kind !== 'request' && row.kind !== 'note') continue;
    const left = methods.get(row.method) - 1, choice = choices.get(row.method);
    if (left > 0) methods.set(row.method, left);
    else {
      methods.delete(row.method);
      if (choice && !choice.selected) { choice.remove(); choices.delete(row.method); }
    }
  }
  rows.splice(0, n);
  let m = 0;
  while (m < view.length && view[m].gone) m++;
  if (m > 0) {
    view.splice(0, m);
    if (!follow) list.scrollTop -= m * rowHeight;
  }
}

function option(select, value, text) {
  for (const o of select.options) if (o.value === value) return;
  if (select.options.length > 600) return;
  select.append(new Option(text, value));
}

// ---- filter

function makeTest() {
  const text = $('text').value.trim(), method = $('method').value, conn = $('conn').value, kind = $('kind').value;
  filtered = !!(text || method || conn || kind);
  if (!filtered) return () => true;
  const re = text ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i') : null;
  return row =>
    (!method || row.method === method) && (!conn || row.conn === conn) && (!kind || ofKind(row, kind)) &&
    (!re || re.test(row.method) || re.test(row.id) || re.test(row.text) || (row.res !== null && re.test(row.res.text)));
}

function ofKind(row, kind) {
  switch (kind) {
    case 'failed': return row.kind === 'error' || row.kind === 'invalid' || row.kind === 'lost' || (row.res !== null && row.res.code !== 0);
    case 'cancelled': return row.cancelled;
    case 'pending': return row.kind === 'request' && !row.res;
    case 'slow': return row.run > 100 || row.total > 100;
  }
  return row.kind === kind;
}

function filter() {
  const began = performance.now();
  test = makeTest();
  view = filtered ? rows.filter(test) : rows.slice();
  refilter = false;
  const ms = performance.now() - began;
  $('found').dataset.ms = ms.toFixed(1);
  $('found').dataset.count = view.length;
  follow = true;
  dirty = plots = true;
  draw();
}

