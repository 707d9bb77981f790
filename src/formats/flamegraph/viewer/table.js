// Every function with its self and total weight: the complete textual form of the graph. Only the rows in
// sight are in the document.

const TABLE_ROW_HEIGHT = 28;

// Totals count a function once per stack, however often it calls itself.
function sumFrames(tree, frames) {
  const count = frames.name.length;
  const sums = { self: new Float64Array(count), total: new Float64Array(count),
    selfBefore: new Float64Array(count), totalBefore: new Float64Array(count) };
  const open = new Int32Array(count); // how often a function is on the stack
  const steps = [0]; // a node to enter, or ~node to leave
  while (steps.length > 0) {
    const step = steps.pop();
    if (step < 0) {
      open[tree.frame[~step]]--;
      continue;
    }
    const frame = tree.frame[step];
    sums.self[frame] += tree.self[step];
    if (tree.hasBefore) sums.selfBefore[frame] += tree.selfBefore[step];
    if (open[frame]++ === 0) {
      sums.total[frame] += tree.total[step];
      if (tree.hasBefore) sums.totalBefore[frame] += tree.totalBefore[step];
    }
    steps.push(~step);
    for (let c = tree.firstChild[step], n = tree.childCount[step]; n > 0; c++, n--) steps.push(c);
  }
  return sums;
}

// key, heading, and for numbers: value of a frame, its text
function tableColumns(data, sums) {
  const { unit, total, before } = data;
  const name = { key: 'name', heading: 'Function', text: (f) => data.frames.name[f] };
  const weight = (key, heading, of) => ({ key, heading, of, text: (f) => formatValue(of(f), unit) });
  const share = (key, heading, of, whole) => ({ key, heading, of, text: (f) => formatPercent(of(f), whole) });
  if (before === undefined) {
    return [
      weight('self', 'Self', (f) => sums.self[f]),
      share('selfshare', 'Self %', (f) => sums.self[f], total),
      weight('total', 'Total', (f) => sums.total[f]),
      share('totalshare', 'Total %', (f) => sums.total[f], total),
      name,
      { key: 'where', heading: 'Where', text: (f) => whereIs(data.frames, f) },
    ];
  }
  const delta = (key, heading, of) => ({ key, heading, of, change: true, text: (f) => formatDelta(of(f), unit) });
  return [
    weight('selfbefore', 'Self before', (f) => sums.selfBefore[f]),
    weight('self', 'Self after', (f) => sums.self[f]),
    delta('selfdelta', 'Self change', (f) => sums.self[f] - sums.selfBefore[f]),
    { key: 'selfratio', heading: 'Self change %', text: (f) => formatChange(sums.selfBefore[f], sums.self[f]),
      of: (f) => (sums.selfBefore[f] === 0 ? (sums.self[f] ? Infinity : 0)
          : (sums.self[f] - sums.selfBefore[f]) / sums.selfBefore[f]) },
    delta('totaldelta', 'Total change', (f) => sums.total[f] - sums.totalBefore[f]),
    weight('total', 'Total after', (f) => sums.total[f]),
    name,
  ];
}

function whereIs(frames, frame) {
  const binary = frames.binary[frame] ? frames.binary[frame].replace(/^.*\//, '') : '';
  return [frames.kind[frame], binary, frames.file[frame]].filter(Boolean).join(' · ');
}

class FunctionTable {
  // on: {sort(key, descending), pick(frame), sandwich(frame)}
  constructor(scroller, data, tree, on) {
    Object.assign(this, { scroller, data, on });
    this.columns = tableColumns(data, sumFrames(tree, data.frames));
    this.all = Int32Array.from(data.frames.name.keys()).slice(1);
    this.rows = this.all;
    this.table = document.createElement('table');
    this.head = this.table.createTHead().insertRow();
    this.body = this.table.createTBody();
    scroller.append(this.table);
    scroller.addEventListener('scroll', () => this.render());
    for (const column of this.columns) {
      const cell = document.createElement('th');
      const button = document.createElement('button');
      cell.scope = 'col';
      cell.className = column.of ? 'number' : '';
      button.textContent = column.heading;
      button.addEventListener('click', () => {
        on.sort(column.key, column.key === this.sortKey ? !this.descending : Boolean(column.of));
      });
      cell.append(button);
      this.head.append(cell);
    }
  }

  get defaultSort() { return this.data.before === undefined ? 'self' : 'selfdelta'; }

  update(sortKey, descending, search) {
    const column = this.columns.find(({ key }) => key === sortKey) ?? this.columns[0];
    this.sortKey = column.key;
    this.descending = descending;
    [...this.head.cells].forEach((cell, i) => {
      const sorted = this.columns[i] === column;
      cell.ariaSort = sorted ? (descending ? 'descending' : 'ascending') : 'none';
    });
    const sign = descending ? -1 : 1;
    const { name } = this.data.frames;
    const compare = column.of ? (a, b) => sign * (column.of(a) - column.of(b)) || a - b
        : (a, b) => sign * (column.text(a) < column.text(b) ? -1 : column.text(a) > column.text(b) ? 1 : 0) || a - b;
    this.rows = (search.active ? this.all.filter((f) => search.hits[f] === 1) : this.all.slice()).sort(compare);
    this.table.ariaRowCount = this.rows.length + 1;
    this.table.ariaLabel = `${this.rows.length} of ${name.length - 1} functions`;
    this.render();
  }

  render() {
    const height = this.scroller.clientHeight || 600;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / TABLE_ROW_HEIGHT) - 10);
    const last = Math.min(this.rows.length, first + Math.ceil(height / TABLE_ROW_HEIGHT) + 20);
    const rows = [this.spacer(first)];
    for (let i = first; i < last; i++) rows.push(this.makeRow(this.rows[i], i));
    rows.push(this.spacer(this.rows.length - last));
    this.body.replaceChildren(...rows);
  }

  spacer(count) {
    const row = document.createElement('tr');
    row.ariaHidden = 'true';
    const cell = row.insertCell();
    cell.colSpan = this.columns.length;
    cell.className = 'spacer';
    cell.style.height = `${count * TABLE_ROW_HEIGHT}px`;
    return row;
  }

  makeRow(frame, index) {
    const row = document.createElement('tr');
    row.ariaRowIndex = index + 2;
    for (const column of this.columns) {
      const cell = row.insertCell();
      if (column.key === 'name') {
        this.fillName(cell, frame);
        continue;
      }
      cell.textContent = column.text(frame);
      cell.className = column.of ? 'number' : 'where';
      if (column.change) cell.classList.add(column.of(frame) > 0 ? 'more' : column.of(frame) < 0 ? 'less' : 'same');
    }
    return row;
  }

  fillName(cell, frame) {
    cell.className = 'name';
    const pick = document.createElement('button');
    const text = document.createElement('bdi');
    text.textContent = this.data.frames.name[frame];
    pick.append(text);
    pick.title = 'Search for this function';
    pick.addEventListener('click', () => this.on.pick(frame));
    const sandwich = document.createElement('button');
    sandwich.className = 'small';
    sandwich.textContent = 'callers/callees';
    sandwich.ariaLabel = 'Callers and callees of this function';
    sandwich.addEventListener('click', () => this.on.sandwich(frame));
    cell.append(pick, sandwich);
  }
}
