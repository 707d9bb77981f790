// Words about one frame, and the legend. Names only ever enter the document as text.

class Describer {
  constructor(data) { this.data = data; }

  nameOf(tree, node) { return this.data.frames.name[tree.frame[node]]; }

  numbersOf(tree, node) {
    const { unit, total, before } = this.data;
    const after = tree.total[node];
    if (tree.hasBefore) {
      const old = tree.totalBefore[node];
      return `${formatValue(old, unit)} (${formatPercent(old, before)}) → ` +
          `${formatValue(after, unit)} (${formatPercent(after, total)}) · ` +
          `change ${formatDelta(after - old, unit)} (${formatChange(old, after)})`;
    }
    const parent = node === 0 ? '' : ` · ${formatPercent(after, tree.total[tree.parent[node]])} of parent`;
    const self = tree.self[node] !== 0 && tree.unexpanded[node] === 0 ? ` · self ${formatValue(tree.self[node], unit)}` : '';
    return `${formatValue(after, unit)} · ${formatPercent(after, total)} of total${parent}${self}`;
  }

  whereOf(tree, node) {
    const where = whereIs(this.data.frames, tree.frame[node]);
    return [tree.inlined[node] ? 'inlined' : '', where].filter(Boolean).join(' · ');
  }

  sentence(tree, node) {
    const change = changeAt(tree, node);
    return `${this.nameOf(tree, node).slice(0, 300)}${change && ` [${change}]`}, ${this.numbersOf(tree, node)}`;
  }
}

function makeLegend(element, data, colors) {
  const swatch = (text, color, className) => {
    const item = document.createElement('span');
    item.className = className;
    item.textContent = text;
    item.style.background = color;
    return item;
  };
  const items = [];
  if (data.before !== undefined) {
    const bounds = data.diffBounds;
    const less = bounds.map((bound, i) => `${i === bounds.length - 1 ? '≤ ' : ''}−${bound}%`).reverse();
    const more = bounds.map((bound, i) => `${i === bounds.length - 1 ? '≥ ' : ''}+${bound}%`);
    [...less, '±0', ...more].forEach((text, i) => items.push(swatch(text, colors[i], 'swatch')));
    const note = document.createElement('p');
    note.textContent = 'Change of a frame: blue less, red more; hatched [gone], + [new]. Width: the larger side.';
    items.push(note);
  } else {
    const families = [['native', /^(native|go|rust|)$/], ['kernel [k]', /^kernel$/],
      ['managed runtime', /^(jvm|cpython|v8js|ruby|php|perl|dotnet|beam|luajit)$/]];
    for (const [text, kinds] of families) {
      const frame = data.frames.kind.findIndex((kind, f) =>
          f > 0 && kinds.test(kind || '') && !/^[[<]/.test(data.frames.name[f]));
      if (frame > 0) items.push(swatch(text, colors[data.frames.color[frame]], 'kind'));
    }
    if (items.length < 2) items.length = 0;
  }
  element.classList.toggle('diff', data.before !== undefined);
  element.replaceChildren(...items);
  element.hidden = items.length === 0;
  element.ariaLabel = `Colours: ${items.map((item) => item.textContent).join(', ')}`;
}
