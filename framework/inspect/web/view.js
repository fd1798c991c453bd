// ---- the list: only the rows that can be seen are in the document

const list = $('rows'), space = $('space'), pool = [];

function cells() {
  const div = document.createElement('div');
  div.className = 'row';
  div.setAttribute('role', 'option');
  for (let i = 0; i < 10; i++) {
    const span = document.createElement('span');
    if (i > 5) span.className = 'num';
    div.append(span);
  }
  div.addEventListener('mousedown', () => select(div.row));
  space.append(div);
  return div;
}

function put(span, text, name) {
  if (span.textContent !== text) span.textContent = text;
  if (name !== undefined && span.className !== name) span.className = name;
}

function status(row) {
  if (row.kind === 'request') {
    if (row.cancelled) return [row.res && row.res.code ? 'cancelled' : row.res ? 'too late' : 'cancelled', 'warn'];
    if (!row.res) return row.ended ? ['no answer', 'warn'] : ['…', 'dim'];
    return row.res.code ? ['error ' + row.res.code, 'bad'] : ['ok', 'ok'];
  }
  switch (row.kind) {
    case 'note': return ['', 'dim'];
    case 'error': return ['error ' + row.code, 'bad'];
    case 'invalid': return ['invalid', 'bad'];
    case 'result': return ['result', 'dim'];
    case 'lost': return ['lost', 'bad'];
  }
  return ['', 'dim'];
}

function clock(t) {
  const d = new Date(t), two = n => String(n).padStart(2, '0');
  return two(d.getHours()) + ':' + two(d.getMinutes()) + ':' + two(d.getSeconds()) + '.' + String(d.getMilliseconds()).padStart(3, '0');
}

function bytesText(n) {
  if (n < 1000) return n + ' B';
  if (n < 1e6) return (n / 1000).toFixed(1) + ' kB';
  return (n / 1e6).toFixed(1) + ' MB';
}

function fill(div, row, at) {
  div.row = row;
  div.id = 'row-' + row.seq;
  div.style.transform = 'translateY(' + at * rowHeight + 'px)';
  div.setAttribute('aria-selected', row === selected);
  div.setAttribute('aria-setsize', view.length);
  div.setAttribute('aria-posinset', at + 1);
  const c = div.children, [word, name] = status(row), quiet = row.kind === 'open' || row.kind === 'close';
  put(c[0], clock(row.t), 'dim');
  put(c[1], label(row.conn));
  if (c[1].title !== row.conn) c[1].title = row.conn;
  put(c[2], quiet ? '' : row.out ? '←' : '→', row.out ? 'out' : 'in');
  put(c[3], row.method || (row.kind === 'result' || row.kind === 'error' ? '(answer)' : '(' + row.kind + ')'), quiet ? 'dim' : '');
  put(c[4], row.id, 'dim');
  put(c[5], word, name);
  put(c[6], duration(row.queued));
  put(c[7], duration(row.run));
  put(c[8], duration(row.total));
  put(c[9], quiet ? '' : bytesText(row.length + (row.res ? row.res.length : 0)));
}

let lastTop = 0; // of the list, to tell whether somebody scrolls up

function drawRows() {
  const height = list.clientHeight, n = view.length;
  space.style.height = n * rowHeight + 'px';
  if (follow) {
    list.scrollTop = n * rowHeight;
    lastTop = list.scrollTop;
  }
  const first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 4), count = Math.min(n - first, Math.ceil(height / rowHeight) + 8);
  while (pool.length < count) pool.push(cells());
  for (let i = 0; i < pool.length; i++) {
    pool[i].hidden = i >= count;
    pool[i].style.display = i < count ? '' : 'none';
    if (i < count) fill(pool[i], view[first + i], first + i);
    else pool[i].removeAttribute('id');
  }
  if (selected) list.setAttribute('aria-activedescendant', 'row-' + selected.seq);
  else list.removeAttribute('aria-activedescendant');
  $('empty').hidden = n > 0;
  $('empty').textContent = rows.length ? 'No message fits the filter.' : 'Nothing yet. Messages appear here as they pass.';
}

// ---- figures

let bars = [];

function legend(id, parts) {
  const p = $(id);
  p.replaceChildren();
  parts.forEach(([name, text]) => {
    const b = document.createElement('b');
    b.className = name;
    b.textContent = text;
    p.append(b);
  });
}

function drawPlots() {
  const width = Number($('window').value);
  const last = rows.length ? rows[rows.length - 1].t : Date.now();
  const to = paused || !live || width === 0 ? last + 1 : Math.max(last, Date.now());
  const oldest = rows.length ? Math.min(rows[0].t, to - 5000) : to - 60000;
  const from = width ? Math.max(to - width, oldest) : oldest;
  const shown = [];
  for (let i = view.length - 1; i >= 0; i--) {
    if (view[i].t < from - 60000) break;
    shown.push(view[i]);
  }
  shown.reverse();
  const span = Math.max(to, from + 1000);
  legend('rate-text', plotRate($('rate'), shown, from, span));
  legend('latency-text', plotLatency($('latency'), shown, from, span));
  const line = plotLine($('line'), shown, from, span, selected);
  bars = line.bars;
  legend('line-text', line.text);
  drawMethods(shown);
}
function drawMethods(shown) {
  if ($('methods').hidden) return;
  const by = new Map();
  for (const row of shown) {
    if (row.kind !== 'request' && row.kind !== 'note') continue;
    let m = by.get(row.method);
    if (!m) by.set(row.method, m = { count: 0, errors: 0, times: [] });
    m.count++;
    if (row.res && row.res.code && !row.cancelled) m.errors++;
    if (took(row) >= 0) m.times.push(took(row));
  }
  const top = [...by].sort((a, b) => b[1].count - a[1].count).slice(0, 30), body = $('method-rows');
  while (body.rows.length > top.length) body.deleteRow(-1);
  top.forEach(([name, m], i) => {
    let tr = body.rows[i];
    if (!tr) {
      tr = body.insertRow();
      for (let j = 0; j < 6; j++) tr.insertCell();
      const b = document.createElement('button');
      b.type = 'button';
      b.addEventListener('click', () => { option($('method'), b.textContent, b.textContent); $('method').value = b.textContent; filter(); });
      tr.cells[0].append(b);
    }
    const sorted = Float64Array.from(m.times).sort();
    put(tr.cells[0].firstChild, name);
    tr.cells[0].firstChild.title = name;
    put(tr.cells[1], m.count.toLocaleString('en'));
    put(tr.cells[2], String(m.errors), m.errors ? 'bad' : 'dim');
    [0.5, 0.9, 0.99].forEach((q, j) => put(tr.cells[3 + j], duration(quantile(sorted, q))));
  });
}

// ---- details

function select(row) {
  selected = row;
  $('detail').hidden = !row;
  $('methods').hidden = !!row;
  if (row) { follow = false; detail(row); }
  dirty = plots = true;
  draw();
}

function fact(name, value) {
  if (value === '') return;
  const dt = document.createElement('dt'), dd = document.createElement('dd');
  dt.textContent = name;
  dd.textContent = value;
  $('facts').append(dt, dd);
}

function detail(row) {
  $('detail-title').textContent = row.method || (row.kind === 'result' || row.kind === 'error' ? 'Answer' : row.kind);
  $('facts').replaceChildren();
  fact('Time', clock(row.t));
  const about = names.get(row.conn), known = about ? [about.protocol, about.client].filter(Boolean).join(', ') : '';
  fact('Connection', row.conn + (known ? ' (' + known + ')' : ''));
  fact('Direction', row.kind === 'open' || row.kind === 'close' ? '' : row.out ? 'sent by the server' : 'received by the server');
  fact('Id', row.id);
  fact('Status', status(row)[0] === '…' ? 'not answered yet' : status(row)[0]);
  fact('Waited', duration(row.queued));
  fact('Ran', duration(row.run));
  fact('Total', duration(row.total));
  $('bodies').replaceChildren();
  if (row.text) body(row.kind === 'request' ? 'Request' : 'Message', row);
  if (row.res) body(row.res.code ? 'Error' : 'Result', row.res);
}

function body(title, part) {
  const h = document.createElement('h3'), pre = document.createElement('pre');
  h.textContent = title + ', ' + bytesText(part.length) + (part.cut ? ', cut here' : '');
  pre.tabIndex = 0;
  pre.setAttribute('aria-label', title);
  for (const [name, text] of pretty(part.text)) {
    if (!name) { pre.append(text); continue; }
    const span = document.createElement('span');
    span.className = name;
    span.textContent = text;
    pre.append(span);
  }
  $('bodies').append(h, pre);
}

// pretty lays JSON out, token by token: what is in it stays as it was, also where a parser would change it (1.0, 9007199254740993).
function pretty(text) {
  const out = [], token = /"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s{}[\],:"]+/g;
  let depth = 0, plain = '', spans = 0, m;
  const flush = () => { if (plain) out.push(['', plain]); plain = ''; };
  const line = () => { plain += '\n' + '  '.repeat(Math.min(depth, 40)); };
  while ((m = token.exec(text)) !== null) {
    const t = m[0], empty = (t === '{' || t === '[') && /^\s*[}\]]/.test(text.slice(token.lastIndex, token.lastIndex + 20));
    if (t === '{' || t === '[') {
      plain += t;
      depth++;
      if (!empty) line();
    } else if (t === '}' || t === ']') {
      depth = Math.max(0, depth - 1);
      if (!/[{[]$/.test(plain)) line();
      plain += t;
    } else if (t === ',') {
      plain += t;
      line();
    } else if (t === ':') plain += ': ';
    else if (++spans > 4000) plain += t;
    else {
      flush();
      const isKey = t[0] === '"' && /^\s*:/.test(text.slice(token.lastIndex, token.lastIndex + 20));
      out.push([isKey ? 'k' : t[0] === '"' ? 's' : 'n', t]);
    }
  }
  flush();
  return out;
}

