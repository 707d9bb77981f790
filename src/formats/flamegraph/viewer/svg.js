// The script of the SVG: zoom, search, details and keys. Without it the file is a still picture.
(() => {
  const SVG = 'http://www.w3.org/2000/svg';
  const XHTML = 'http://www.w3.org/1999/xhtml';
  const data = VESTA_DATA;
  const root = document.currentScript.ownerDocument.documentElement;
  const byId = (id) => root.querySelector(`#${id}`);
  const boxes = [...byId('frames').children];
  const count = boxes.length;
  const isDiff = data.before !== undefined && Array.isArray(data.beforeValue);
  const children = Array.from({ length: count }, () => []);
  for (let i = 1; i < count; i++) children[data.parent[i]].push(i);

  let width = data.width;
  let zoomed = 0;
  let focused = 0;
  let query = '';

  const nameOf = (i) => data.names[data.frame[i]];
  const shortNameOf = (i) => data.shortNames[data.frame[i]] || nameOf(i);

  function labelOf(i, boxWidth) {
    const columns = Math.max(0, Math.floor((boxWidth - data.textPadding) / data.columnWidth));
    const change = isDiff ? changeOf(data.beforeValue[i], data.value[i]) : '';
    return fitChangedLabel(nameOf(i), shortNameOf(i), change, columns);
  }

  function place(i, x, boxWidth) {
    const box = boxes[i];
    const shown = boxWidth > 3 ? boxWidth - 0.6 : boxWidth;
    for (const rect of box.getElementsByTagNameNS(SVG, 'rect')) {
      rect.setAttribute('x', x.toFixed(2));
      rect.setAttribute('width', shown.toFixed(2));
    }
    const label = labelOf(i, boxWidth);
    let text = box.getElementsByTagNameNS(SVG, 'text')[0];
    if (!label) {
      if (text) text.remove();
      return;
    }
    if (!text) {
      text = document.createElementNS(SVG, 'text');
      text.setAttribute('class', 'label');
      const row = data.icicle ? data.depth[i] : data.maxDepth - data.depth[i];
      text.setAttribute('y', data.top + row * data.rowHeight + 12.5);
      box.append(text);
    }
    text.setAttribute('x', (x + data.textPadding / 2).toFixed(2));
    text.textContent = label;
  }

  function layOut() {
    const from = data.start[zoomed];
    const extent = data.extent[zoomed] || 1;
    const inner = width - 2 * data.margin;
    const ancestors = new Set();
    for (let i = zoomed; i !== 0; i = data.parent[i]) ancestors.add(data.parent[i]);
    const within = new Uint8Array(count);
    for (let i = 0; i < count; i++) {
      const isAncestor = ancestors.has(i);
      const inside = i === zoomed || (i !== 0 && within[data.parent[i]] === 1);
      within[i] = inside ? 1 : 0;
      boxes[i].style.display = isAncestor || inside ? '' : 'none';
      boxes[i].classList.toggle('ancestor', isAncestor);
      if (isAncestor) place(i, data.margin, inner);
      if (inside) {
        place(
          i,
          data.margin + ((data.start[i] - from) / extent) * inner,
          data.extent[zoomed] === 0 ? inner : (data.extent[i] / extent) * inner,
        );
      }
    }
  }

  function describe(i) {
    const value = data.value[i];
    const parent = data.parent[i];
    if (!isDiff) {
      const ofParent = i === 0 ? '' : `, ${formatPercent(value, data.value[parent])} of parent`;
      return (
        `${nameOf(i)}: ${formatValue(value, data.unit)}, ` + `${formatPercent(value, data.total)} of total${ofParent}`
      );
    }
    const before = data.beforeValue[i];
    return (
      `${nameOf(i)}: before ${formatValue(before, data.unit)} (${formatPercent(before, data.before)}), ` +
      `after ${formatValue(value, data.unit)} (${formatPercent(value, data.total)}), ` +
      `change ${formatDelta(value - before, data.unit)} (${formatChange(before, value)})`
    );
  }

  const details = byId('details');
  const matched = byId('matched');
  const idleText = 'Point at a frame for details · click zooms · / searches · Esc resets · arrow keys walk';

  function showDetails(i) {
    let text = i === undefined ? idleText : describe(i);
    const columns = Math.floor((width - 2 * data.margin - (query ? 220 : 0)) / 6.8);
    // The numbers stand at the end; a long name gives way to them.
    if (i !== undefined && text.length > columns) {
      const numbers = text.slice(nameOf(i).length);
      text = `${nameOf(i).slice(0, Math.max(8, columns - numbers.length - 1))}…${numbers}`;
    }
    details.textContent = text;
  }

  function zoom(i) {
    zoomed = i;
    layOut();
    resetButton.style.display = i === 0 ? 'none' : '';
  }

  function focus(i) {
    boxes[focused].removeAttribute('tabindex');
    focused = i;
    boxes[i].setAttribute('tabindex', '0');
    boxes[i].setAttribute('aria-level', data.depth[i] + 1);
    boxes[i].focus();
    showDetails(i);
  }

  function search(text) {
    query = text;
    const { test, error } = parseQuery(text);
    const hits = data.names.map((name) => test?.(name) ?? false);
    const within = new Uint8Array(count);
    let after = 0;
    let before = 0;
    for (let i = 0; i < count; i++) {
      const hit = hits[data.frame[i]] && i !== 0;
      const above = i !== 0 && within[data.parent[i]] === 1;
      within[i] = hit || above ? 1 : 0;
      if (hit && !above) {
        after += data.value[i];
        if (isDiff) before += data.beforeValue[i];
      }
      boxes[i].classList.toggle('match', hit);
      boxes[i].classList.toggle('rest', test !== null && !hit);
    }
    const share = isDiff
      ? `${formatPercent(before, data.before)} → ${formatPercent(after, data.total)}`
      : formatPercent(after, data.total);
    const unseen = data.cutShare > 0 ? ` (+ at most ${formatPercent(data.cutShare, 1)} not drawn)` : '';
    matched.textContent = error ? `not a valid expression: ${error}` : test ? `matched: ${share}${unseen}` : '';
    showDetails();
  }

  function makeButton(label, right, run) {
    const button = document.createElementNS(SVG, 'g');
    button.setAttribute('class', 'button');
    button.setAttribute('role', 'button');
    button.setAttribute('tabindex', '0');
    button.setAttribute('aria-label', label);
    const rect = document.createElementNS(SVG, 'rect');
    const text = document.createElementNS(SVG, 'text');
    for (const [key, value] of Object.entries({ y: 10, width: 92, height: 24 })) rect.setAttribute(key, value);
    text.setAttribute('y', 26);
    text.textContent = label;
    button.place = () => {
      rect.setAttribute('x', width - data.margin - right - 92);
      text.setAttribute('x', width - data.margin - right - 46);
    };
    button.append(rect, text);
    button.addEventListener('click', run);
    button.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        event.stopPropagation();
        run();
      }
    });
    root.append(button);
    return button;
  }

  let field = null;
  function openSearch() {
    if (!field) {
      const holder = document.createElementNS(SVG, 'foreignObject');
      for (const [key, value] of Object.entries({ y: 10, width: 260, height: 24 })) holder.setAttribute(key, value);
      field = document.createElementNS(XHTML, 'input');
      field.setAttribute('class', 'field');
      field.setAttribute('placeholder', 'name or /regular expression/');
      field.setAttribute('aria-label', 'Search frames');
      field.addEventListener('input', () => search(field.value));
      holder.append(field);
      holder.place = () => holder.setAttribute('x', Math.max(data.margin, width - data.margin - 464));
      field.holder = holder;
      root.append(holder);
      holder.place();
    }
    field.holder.style.display = '';
    field.focus();
    field.select();
  }

  function reset() {
    if (field) {
      field.value = '';
      field.holder.style.display = 'none';
    }
    search('');
    zoom(0);
  }

  const searchButton = makeButton('Search', 0, openSearch);
  const resetButton = makeButton('Reset zoom', 100, () => zoom(0));

  function fitWindow() {
    width = Math.max(200, root.clientWidth || data.width);
    root.setAttribute('viewBox', `0 0 ${width} ${root.getAttribute('height')}`);
    searchButton.place();
    resetButton.place();
    if (field) field.holder.place();
    matched.setAttribute('x', width - data.margin);
    layOut();
    showDetails();
  }

  function move(event) {
    const toChild = data.icicle ? 'ArrowDown' : 'ArrowUp';
    const toParent = data.icicle ? 'ArrowUp' : 'ArrowDown';
    const siblings = children[data.parent[focused]];
    const at = siblings.indexOf(focused);
    const target =
      event.key === toChild
        ? children[focused][0]
        : event.key === toParent
          ? data.parent[focused]
          : event.key === 'ArrowLeft'
            ? siblings[at - 1]
            : event.key === 'ArrowRight'
              ? siblings[at + 1]
              : undefined;
    if (target === undefined) return;
    event.preventDefault();
    if (boxes[target].style.display === 'none') zoom(data.parent[target]);
    focus(target);
  }

  boxes.forEach((box, i) => {
    box.setAttribute('role', 'treeitem');
    box.addEventListener('pointerenter', () => showDetails(i));
    box.addEventListener('pointerleave', () => showDetails());
    box.addEventListener('click', () => {
      zoom(i);
      focus(i);
    });
  });
  byId('frames').setAttribute('role', 'tree');
  byId('frames').setAttribute('aria-label', 'Flame graph');
  details.setAttribute('aria-live', 'polite');
  matched.setAttribute('aria-live', 'polite');
  boxes[0].setAttribute('tabindex', '0');
  root.removeAttribute('role');

  root.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') return reset();
    if (((event.ctrlKey || event.metaKey) && event.key === 'f') || (event.key === '/' && event.target !== field)) {
      event.preventDefault();
      return openSearch();
    }
    if (event.target === field) return undefined;
    if (event.key === 'Enter') return zoom(focused);
    if (event.key.startsWith('Arrow')) return move(event);
    return undefined;
  });

  root.setAttribute('width', '100%');
  window.addEventListener('resize', fitWindow);
  resetButton.style.display = 'none';
  fitWindow();
})();
