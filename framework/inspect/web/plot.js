'use strict';

// Plots: how much passed, how long it took, and when each request waited and ran. Each draws into a canvas and returns what it says, for the
// legend and for those who do not see it.

const buckets = 60;

function surface(canvas) {
  const box = canvas.getBoundingClientRect(), scale = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(box.width * scale)), height = Math.max(1, Math.round(box.height * scale));
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const g = canvas.getContext('2d');
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, box.width, box.height);
  g.font = '10px system-ui, sans-serif';
  return { g, w: box.width, h: box.height };
}

let palette = null;
function colour(name) {
  if (!palette) {
    palette = {};
    const style = getComputedStyle(document.documentElement);
    for (const n of ['in', 'out', 'ok', 'bad', 'warn', 'dim', 'line', 'wait', 'ink']) palette[n] = style.getPropertyValue('--' + n).trim();
  }
  return palette[name];
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { palette = null; });

function duration(ms) {
  if (ms < 0) return '';
  if (ms < 0.00005) return '0';
  if (ms < 0.0995) return (ms * 1000).toFixed(ms < 0.00995 ? 1 : 0) + ' µs';
  if (ms < 9.95) return ms.toFixed(2) + ' ms';
  if (ms < 99.5) return ms.toFixed(1) + ' ms';
  if (ms < 999.5) return ms.toFixed(0) + ' ms';
  return (ms / 1000).toFixed(ms < 9995 ? 2 : 1) + ' s';
}

function quantile(sorted, q) {
  if (sorted.length === 0) return -1;
  const at = q * (sorted.length - 1), low = Math.floor(at);
  return sorted[low] + (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]) * (at - low);
}

// What a request took: the time its handler ran, where that is known.
function took(row) { return row.run >= 0 ? row.run : row.total; }

function plotRate(canvas, rows, from, to) {
  const { g, w, h } = surface(canvas);
  const width = (to - from) / buckets, ins = new Float64Array(buckets), outs = new Float64Array(buckets);
  let received = 0, sent = 0;
  const count = (t, out) => {
    const i = Math.floor((t - from) / width);
    if (i < 0 || i > buckets) return;
    if (out) { outs[Math.min(i, buckets - 1)]++; sent++; } else { ins[Math.min(i, buckets - 1)]++; received++; }
  };
  for (let i = rows.length - 1; i >= 0; i--) {
    const row = rows[i];
    if (row.text === null) continue;
    count(row.t, row.out);
    if (row.res) count(row.res.t, !row.out);
  }
  let top = 1;
  for (let i = 0; i < buckets; i++) top = Math.max(top, ins[i] + outs[i]);
  const bar = w / buckets, unit = (h - 12) / top;
  g.fillStyle = colour('line');
  g.fillRect(0, h - 1, w, 1);
  for (let i = 0; i < buckets; i++) {
    const a = ins[i] * unit, b = outs[i] * unit;
    g.fillStyle = colour('in');
    g.fillRect(i * bar + 0.5, h - 1 - a, bar - 1, a);
    g.fillStyle = colour('out');
    g.fillRect(i * bar + 0.5, h - 1 - a - b, bar - 1, b);
  }
  g.fillStyle = colour('dim');
  g.fillText(rateText(top / width * 1000) + ' at most', 0, 9);
  const seconds = (to - from) / 1000;
  return [['in', 'in ' + rateText(received / seconds)], ['out', 'out ' + rateText(sent / seconds)]];
}

function rateText(perSecond) {
  if (perSecond >= 1e4) return Math.round(perSecond / 1000) + 'k/s';
  return (perSecond >= 100 ? perSecond.toFixed(0) : perSecond.toFixed(1)) + '/s';
}

function plotLatency(canvas, rows, from, to) {
  const { g, w, h } = surface(canvas);
  const width = (to - from) / buckets, groups = Array.from({ length: buckets }, () => []), all = [];
  for (let i = rows.length - 1; i >= 0; i--) {
    const row = rows[i], ms = took(row);
    if (ms < 0 || row.kind !== 'request') continue;
    const at = Math.floor((row.t - from) / width);
    if (at < 0 || at > buckets) continue;
    groups[Math.min(at, buckets - 1)].push(ms);
    all.push(ms);
  }
  const total = Float64Array.from(all).sort();
  g.fillStyle = colour('line');
  g.fillRect(0, h - 1, w, 1);
  if (total.length === 0) return [['', 'no answered requests']];
  const low = Math.log10(Math.max(total[0], 0.001)), high = Math.max(low + 1, Math.log10(Math.max(total[total.length - 1], 0.001)));
  const y = ms => h - 3 - (Math.log10(Math.max(ms, 0.001)) - low) / (high - low) * (h - 16);
  g.fillStyle = colour('dim');
  g.fillText(duration(10 ** high), 0, 9);
  g.fillText(duration(10 ** low), 0, h - 5);
  const levels = [[0.99, 'bad'], [0.9, 'out'], [0.5, 'ok']];
  const points = groups.map(group => group.length ? Float64Array.from(group).sort() : null);
  for (const [q, name] of levels) {
    g.strokeStyle = g.fillStyle = colour(name);
    g.lineWidth = 1.5;
    g.beginPath();
    let drawing = false;
    points.forEach((sorted, i) => {
      if (!sorted) { drawing = false; return; }
      const x = (i + 0.5) * w / buckets, at = y(quantile(sorted, q));
      if (drawing) g.lineTo(x, at); else g.moveTo(x, at);
      drawing = true;
      g.fillRect(x - 1.25, at - 1.25, 2.5, 2.5);
    });
    g.stroke();
  }
  return [['ok', 'p50 ' + duration(quantile(total, 0.5))], ['out', 'p90 ' + duration(quantile(total, 0.9))], ['bad', 'p99 ' + duration(quantile(total, 0.99))]];
}

// plotLine draws the last requests, each in the first lane that is free: where it waited in a light colour. It returns where they are too, for the
// mouse.
const maxBars = 80;
function plotLine(canvas, rows, from, to, selected) {
  const { g, w, h } = surface(canvas), some = [], bars = [];
  for (let i = rows.length - 1; i >= 0 && some.length < maxBars; i--) {
    if (rows[i].kind === 'request' && rows[i].t <= to && end(rows[i], to) >= from) some.push(rows[i]);
  }
  some.reverse();
  if (some.length) {
    from = Math.max(from, Math.min(...some.map(row => row.t)));
    if (!some.some(row => end(row, to) === to)) to = Math.max(...some.map(row => end(row, to)));
    to = Math.max(to, from + 1);
  }
  const scale = w / (to - from), lanes = [], height = 7, most = Math.max(1, Math.floor((h - 2) / (height + 1)));
  let cancelled = 0, failed = 0, open = 0;
  for (const row of some) {
    const a = (row.t - from) * scale, b = Math.max(a + 2, (end(row, to) - from) * scale);
    let lane = 0;
    while (lane < most && lanes[lane] > a) lane++;
    if (lane === most) lane = lanes.indexOf(Math.min(...lanes));
    lanes[lane] = b + 1;
    const y = 1 + lane * (height + 1);
    let start = a;
    if (row.queued >= 0) {
      start = Math.min(b - 1, a + row.queued * scale);
      g.fillStyle = colour('wait');
      g.fillRect(a, y, start - a, height);
    }
    g.fillStyle = colour(row.cancelled ? 'warn' : row.res ? (row.res.code ? 'bad' : row.out ? 'out' : 'in') : 'dim');
    g.fillRect(start, y, b - start, height);
    if (row === selected) {
      g.strokeStyle = colour('ink');
      g.strokeRect(a - 1, y - 1, b - a + 2, height + 2);
    }
    if (row.cancelled) cancelled++; else if (!row.res) open++; else if (row.res.code) failed++;
    bars.push({ a, b, y, row });
  }
  const text = [['', some.length ? some.length + ' in ' + duration(to - from) : 'none']];
  if (some.length) text.push(['wait', 'waited'], ['bad', failed + ' failed'], ['warn', cancelled + ' cancelled']);
  if (open) text.push(['', open + ' open']);
  return { bars, text };
}

function end(row, now) {
  if (row.res) return row.res.t;
  if (row.run >= 0) return row.t + Math.max(row.queued, 0) + row.run;
  return row.cancelled ? row.gaveUp : row.ended ? row.t : now;
}
