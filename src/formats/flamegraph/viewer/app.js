// Ties the parts together: state in, trees and panels made from it, canvas and document out.

const ZOOM_MS = 120;
const byId = (id) => document.getElementById(id);

class App {
  constructor(data) {
    this.data = data;
    this.frames = data.frames;
    this.keyOf = data.frames.name.map(nameKey);
    this.fullTree = decodeTree(data);
    this.stage = byId('stage');
    this.painter = new Painter(byId('canvas'), byId('overlay'), data);
    this.describer = new Describer(data);
    this.search = new Search(data.frames);
    this.built = ''; // what the panels were made for
    this.matches = new Map();
    this.hover = null;
    const defaults = { ...DEFAULT_STATE, mode: data.inverted ? 'up' : 'down', flip: !data.icicle };
    this.keeper = new StateKeeper(defaults, (state) => this.apply(state));
    byId('losses').textContent = data.losses ? `Not complete: ${data.losses}` : '';
    byId('losses').hidden = !data.losses;
    this.bind();
    this.apply(this.keeper.state);
  }

  get state() { return this.keeper.state; }

  bind() {
    const press = (id, run) => byId(id).addEventListener('click', run);
    press('view-flame', () => this.keeper.change({ view: 'flame' }));
    press('view-table', () => this.keeper.change({ view: 'table' }));
    press('mode-down', () => this.keeper.change({ mode: 'down', zoom: '', pivot: '' }));
    press('mode-up', () => this.keeper.change({ mode: 'up', zoom: '', pivot: '' }));
    press('mode-sandwich', () => this.sandwichFocused());
    press('collapse', () => this.toggle('collapse'));
    press('flip', () => this.toggle('flip'));
    press('previous', () => this.nextMatch(-1));
    press('next', () => this.nextMatch(1));
    press('theme', () => this.nextTheme());
    press('link', () => this.copyLink());
    press('copy', () => this.copyText(this.focusedName(), 'Name copied'));
    press('help-open', () => this.openHelp());
    byId('query').addEventListener('input', (event) => this.keeper.change({ query: event.target.value }, true));
    byId('keys').replaceChildren(...KEYS.flatMap(([key, meaning]) => {
      const term = document.createElement('dt');
      const description = document.createElement('dd');
      term.textContent = key;
      description.textContent = meaning;
      return [term, description];
    }));
    bindPointer(this.stage, this);
    bindKeys(this);
    this.stage.addEventListener('scroll', () => this.draw());
    this.stage.addEventListener('focus', () => this.showFocus());
    new ResizeObserver(() => this.resize()).observe(this.stage);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.applyTheme());
  }

  apply(state) {
    this.applyTheme();
    if (this.search.query !== state.query) {
      this.search.set(state.query);
      this.forgetMatches();
    }
    if (byId('query').value !== state.query) byId('query').value = state.query;
    this.buildPanels(state);
    this.applyZoom(state);
    this.showMatched();
    this.showButtons(state);
    this.showCrumbs();
    byId('table').hidden = state.view !== 'table';
    this.stage.hidden = state.view !== 'flame';
    if (state.view === 'table') this.showTable(state);
    this.showFocus();
    this.draw();
  }

  // Trees depend on the mode only; a zoom into an inverted tree may ask for callers not followed before.
  buildPanels(state, focusPath = []) {
    const wanted = [state.mode, state.pivot, state.collapse, state.flip, focusPath.join('.')].join('|');
    if (wanted === this.built) return;
    this.built = wanted;
    const base = state.collapse ? this.collapsedTree() : this.fullTree;
    const pivot = state.mode === 'sandwich' ? this.frameOfKey(state.pivot) : -1;
    let trees = [base];
    if (state.mode === 'up') trees = [invert(base, this.frames, focusPath)];
    if (pivot > 0) {
      trees = [calleesOf(base, this.frames, pivot, state.collapse), callersOf(base, this.frames, pivot, focusPath)];
    }
    this.panels = makePanels(trees, !state.flip);
    this.focus = { panel: this.panels[0], node: 0 };
    this.hover = null;
    this.forgetMatches();
    byId('spacer').style.height = '0px';
    this.resize();
    const { panels } = this;
    this.stage.scrollTop = pivot > 0 ? panels[0].baseRow * ROW_HEIGHT - this.painter.height / 2
        : panels[0].grow < 0 ? this.stage.scrollHeight : 0;
  }

  collapsedTree() {
    this.collapsed ??= mergeDown(this.fullTree, this.frames, [0], 0, true, orderOf(this.fullTree, this.frames));
    return this.collapsed;
  }

  frameOfKey(key) { return this.keyOf.indexOf(key, 1); }

  // The node of a path; as deep as the path can be followed.
  resolve(panel, keys) {
    let node = 0;
    for (const key of keys) {
      const child = panel.tree.childOf(node, (frame) => this.keyOf[frame] === key);
      if (child < 0) break;
      node = child;
    }
    return node;
  }

  applyZoom(state) {
    const inCallers = state.zoom.startsWith('<');
    const keys = state.zoom.replace(/^</, '').split('.').filter(Boolean);
    let index = inCallers && this.panels.length > 1 ? 1 : 0;
    let node = this.resolve(this.panels[index], keys);
    const { tree } = this.panels[index];
    if (node !== 0 && this.hasUnexpanded(tree, node)) {
      this.buildPanels(state, tree.pathTo(node));
      index = Math.min(index, this.panels.length - 1);
      node = this.resolve(this.panels[index], keys);
    }
    this.panels.forEach((panel, i) => {
      panel.zoomNode = i === index ? node : 0;
      this.glide(panel, panel.rangeOf(panel.zoomNode));
    });
    this.zoomPanel = this.panels[index];
    if (node !== 0) this.focus = { panel: this.zoomPanel, node };
    this.reveal(this.focus);
  }

  hasUnexpanded(tree, top) {
    for (let i = top; i < tree.count; i++) {
      if (tree.unexpanded[i] === 1 && tree.isWithin(i, top)) return true;
    }
    return false;
  }

  glide(panel, [from, to]) {
    const still = panel.from === from && panel.to === to;
    if (still || !this.drawn || matchMedia('(prefers-reduced-motion: reduce)').matches) {
      panel.setRange(from, to);
      return;
    }
    const begin = { from: panel.from, to: panel.to, at: performance.now() };
    panel.glide = begin;
    const step = (now) => {
      if (panel.glide !== begin) return; // a later one took over
      const share = Math.min(Math.max((now - begin.at) / ZOOM_MS, 0), 1);
      const eased = 1 - (1 - share) ** 3;
      panel.setRange(begin.from + (from - begin.from) * eased, begin.to + (to - begin.to) * eased);
      if (share < 1) requestAnimationFrame(step);
      else panel.glide = null;
      this.paintNow();
    };
    requestAnimationFrame(step);
  }

  resize() {
    const { clientWidth, clientHeight } = this.stage;
    if (clientWidth === 0 || !this.panels) return;
    this.painter.resize(clientWidth, clientHeight);
    const height = rowCount(this.panels) * ROW_HEIGHT + 8;
    byId('spacer').style.height = `${Math.max(0, height - clientHeight)}px`;
    this.paintNow();
  }

  draw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.paintNow();
    });
  }

  scene() {
    return {
      panels: this.panels, scrollTop: this.stage.scrollTop, search: this.search, hover: this.hover,
      focus: document.activeElement === this.stage || this.focus.node !== 0 ? this.focus : null,
      matchesOf: (tree) => this.matchesIn(tree),
    };
  }

  paintNow() {
    if (!this.painter.width || this.stage.hidden) return;
    this.painter.paint(this.scene());
    if (this.drawn) return;
    this.drawn = true;
    performance.mark('vesta-drawn');
    document.documentElement.dataset.ready = 'true';
  }

  matchesIn(tree) {
    if (!this.matches.has(tree)) this.matches.set(tree, this.search.nodesIn(tree));
    return this.matches.get(tree);
  }

  forgetMatches() {
    this.matches.clear();
    this.order = null;
  }

  applyTheme() {
    const { theme } = this.state;
    const isDark = theme === 'dark' || (theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
    if (this.isDark === isDark) return;
    this.isDark = isDark;
    document.documentElement.classList.toggle('dark', isDark);
    this.painter.setTheme(isDark);
    makeLegend(byId('legend'), this.data, this.painter.colors);
    this.draw();
  }

  showButtons(state) {
    const pressed = { 'view-flame': state.view === 'flame', 'view-table': state.view === 'table',
      'mode-down': state.mode === 'down', 'mode-up': state.mode === 'up', 'mode-sandwich': state.mode === 'sandwich',
      collapse: state.collapse, flip: state.flip };
    for (const [id, value] of Object.entries(pressed)) byId(id).ariaPressed = value;
    byId('theme').textContent = `Theme: ${state.theme}`;
  }

  showMatched() {
    const { data, search } = this;
    let text = '';
    if (search.error) text = `not valid: ${search.error}`;
    if (search.active) {
      const { after, before } = search.weigh(this.fullTree);
      text = data.before === undefined ? `matched ${formatPercent(after, data.total)}`
          : `matched ${formatPercent(before, data.before)} → ${formatPercent(after, data.total)}`;
    }
    byId('matched').textContent = text;
  }

  showCrumbs() {
    const panel = this.zoomPanel;
    const path = [panel.zoomNode];
    while (path[0] !== 0) path.unshift(panel.tree.parent[path[0]]);
    const items = path.flatMap((node, i) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = this.describer.nameOf(panel.tree, node).slice(0, 200);
      button.addEventListener('click', () => this.zoomTo({ panel, node }));
      if (i === path.length - 1) button.ariaCurrent = 'true';
      if (i === 0) return [button];
      const arrow = document.createElement('span');
      arrow.textContent = '›';
      return [arrow, button];
    });
    const hint = document.createElement('span');
    hint.className = 'hint';
    const counted = `${(panel.tree.count - 1).toLocaleString('en-US')} frames`;
    hint.textContent = panel.tree.unexpanded.includes(1) ? `${counted}; zoom in to follow callers of narrow ones` : counted;
    byId('crumbs').replaceChildren(...items, hint);
    items[items.length - 1].scrollIntoView({ inline: 'nearest', block: 'nearest' });
  }

  showTable(state) {
    this.table ??= new FunctionTable(byId('table'), this.data, this.fullTree, {
      sort: (key, descending) => this.keeper.change({ sort: (descending ? '-' : '') + key }, true),
      pick: (frame) => this.keeper.change({ query: `/^${escapeExpression(this.frames.name[frame])}$/`, view: 'flame' }),
      sandwich: (frame) => this.keeper.change({ mode: 'sandwich', pivot: this.keyOf[frame], zoom: '', view: 'flame' }),
    });
    const sort = state.sort || `-${this.table.defaultSort}`;
    this.table.update(sort.replace(/^-/, ''), sort.startsWith('-'), this.search);
  }

  showFocus() {
    const { panel, node } = this.focus;
    updateTwin(this.stage, byId('twin'), this.focus, (p, i) => this.describer.sentence(p.tree, i));
    if (!this.hover) this.showDetails(panel.tree, node);
    this.draw();
  }

  showDetails(tree, node) {
    byId('detail-name').textContent = this.describer.nameOf(tree, node).slice(0, 1000);
    byId('detail-numbers').textContent = this.describer.numbersOf(tree, node);
    byId('detail-where').textContent = this.describer.whereOf(tree, node);
  }

  targetAt(clientX, clientY) {
    const area = this.stage.getBoundingClientRect();
    const x = clientX - area.left;
    const y = clientY - area.top;
    if (x < 0 || y < 0 || x >= this.painter.width || y >= area.height) return null;
    const row = Math.floor((y + this.stage.scrollTop) / ROW_HEIGHT);
    for (const panel of this.panels) {
      const node = panel.nodeAt(row, x / this.painter.width);
      if (node >= 0) return { panel, node };
    }
    return null;
  }

  hoverAt(clientX, clientY) {
    this.hover = this.targetAt(clientX, clientY);
    const tooltip = byId('tooltip');
    tooltip.hidden = !this.hover;
    const { panel, node } = this.hover ?? this.focus;
    this.showDetails(panel.tree, node);
    if (this.hover) {
      const name = document.createElement('bdi');
      const where = document.createElement('span');
      name.className = 'name';
      where.className = 'where';
      name.textContent = this.describer.nameOf(panel.tree, node).slice(0, 2000);
      where.textContent = this.describer.whereOf(panel.tree, node);
      tooltip.replaceChildren(name, this.describer.numbersOf(panel.tree, node), where);
      const { offsetWidth, offsetHeight } = tooltip;
      const flipX = clientX + 16 + offsetWidth > innerWidth;
      const flipY = clientY + 20 + offsetHeight > innerHeight;
      tooltip.style.left = `${Math.max(4, flipX ? clientX - offsetWidth - 10 : clientX + 14)}px`;
      tooltip.style.top = `${Math.max(4, flipY ? clientY - offsetHeight - 10 : clientY + 18)}px`;
    }
    this.painter.paintOverlay(this.scene());
  }

  pathKeys(panel, node) {
    const side = this.panels.indexOf(panel) === 1 ? '<' : '';
    return node === 0 ? '' : side + panel.tree.pathTo(node).map((frame) => this.keyOf[frame]).join('.');
  }

  zoomTo({ panel, node }) {
    this.focus = { panel, node };
    const zoom = this.pathKeys(panel, node);
    if (zoom === this.state.zoom) {
      this.glide(panel, panel.rangeOf(node)); // after panning
      this.showFocus();
    } else {
      this.keeper.change({ zoom });
    }
  }

  resetZoom() {
    this.focus = { panel: this.panels[0], node: 0 };
    this.zoomTo(this.focus);
  }

  panBy(panel, pixels) {
    const shift = pixels / this.painter.width * (panel.to - panel.from);
    const size = panel.to - panel.from;
    const from = Math.min(Math.max(panel.from + shift, 0), panel.end - size);
    panel.glide = null;
    panel.setRange(from, from + size);
    this.draw();
  }

  scaleAt(clientX, clientY, factor) {
    const target = this.targetAt(clientX, clientY);
    const panel = target?.panel ?? this.panels[0];
    const share = (clientX - this.stage.getBoundingClientRect().left) / this.painter.width;
    const center = panel.from + share * (panel.to - panel.from);
    const size = Math.min((panel.to - panel.from) * factor, panel.end);
    panel.glide = null;
    panel.setRange(center - share * size, center + (1 - share) * size);
    this.draw();
  }

  // Scrolls to the frame and, where it is too thin to see, widens the view around it.
  reveal({ panel, node }) {
    const y = panel.rowOf(node) * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.stage;
    if (y < scrollTop || y + ROW_HEIGHT > scrollTop + clientHeight) this.stage.scrollTop = y - clientHeight / 3;
  }

  focusOn(target) {
    this.focus = target;
    const { panel, node } = target;
    const [from, to] = panel.rangeOf(node);
    const share = (to - from) / (panel.to - panel.from);
    if (from < panel.from || to > panel.to * (1 + 1e-9) || share * this.painter.width < 3) {
      let around = node;
      while (around !== 0 && panel.tree.extent[around] < (to - from) * 12) around = panel.tree.parent[around];
      this.keeper.change({ zoom: this.pathKeys(panel, around) });
      // Zooming may have rebuilt the tree and moves the focus; both are put right here.
      const now = this.panels.includes(panel) ? target : null;
      if (now) this.focus = now;
    }
    this.reveal(this.focus);
    this.showFocus();
  }

  walk(direction) {
    const { panel, node } = this.focus;
    const { tree } = panel;
    let next = -1;
    if (direction === 'left' || direction === 'right') {
      const depth = tree.depth[node];
      next = node + (direction === 'left' ? -1 : 1);
      if (next < tree.levels[depth] || next >= tree.levels[depth + 1]) return;
    } else if ((direction === 'down') === (panel.grow > 0)) {
      next = tree.firstChild[node];
    } else if (node !== 0) {
      next = tree.parent[node];
    } else if (this.panels.length > 1) { // from the function of a sandwich into its other half
      const other = this.panels[panel === this.panels[0] ? 1 : 0];
      if (other.tree.count > 1) this.focusOn({ panel: other, node: other.tree.firstChild[0] });
      return;
    }
    if (next >= 0) this.focusOn({ panel, node: next });
  }

  // Matches in reading order: left to right, then by depth.
  nextMatch(step) {
    const inOrder = ({ tree }) => [...this.matchesIn(tree)]
        .sort((a, b) => tree.start[a] - tree.start[b] || tree.depth[a] - tree.depth[b]);
    this.order ??= this.panels.flatMap((panel) => inOrder(panel).map((node) => ({ panel, node })));
    const all = this.order;
    if (all.length === 0) return;
    const at = all.findIndex(({ panel, node }) => panel === this.focus.panel && node === this.focus.node);
    const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : (at + step + all.length) % all.length;
    if (this.state.view !== 'flame') this.keeper.change({ view: 'flame' });
    this.focusOn(all[next]);
    const { panel, node } = this.focus;
    this.announce(`Match ${next + 1} of ${all.length}: ${this.describer.sentence(panel.tree, node)}`);
  }

  toggle(key) { this.keeper.change({ [key]: !this.state[key], zoom: key === 'collapse' ? '' : this.state.zoom }); }
  toggleInverted() { this.keeper.change({ mode: this.state.mode === 'up' ? 'down' : 'up', zoom: '', pivot: '' }); }

  sandwichFocused() {
    const { panel, node } = this.focus;
    const heaviest = () => {
      const { self } = sumFrames(this.fullTree, this.frames);
      return self.reduce((best, value, frame) => (frame > 0 && value > self[best] ? frame : best), 1);
    };
    if (this.frames.name.length < 2) return;
    const frame = panel.tree.frame[node] || heaviest();
    if (this.state.mode === 'sandwich' && this.keyOf[frame] === this.state.pivot && node === 0) {
      this.keeper.change({ mode: 'down', pivot: '', zoom: '' });
    } else {
      this.keeper.change({ mode: 'sandwich', pivot: this.keyOf[frame], zoom: '', view: 'flame' });
    }
  }

  nextTheme() {
    const order = ['auto', 'light', 'dark'];
    this.keeper.change({ theme: order[(order.indexOf(this.state.theme) + 1) % order.length] }, true);
  }

  escape() {
    if (document.activeElement === byId('query')) this.stage.focus();
    if (this.state.query) {
      this.keeper.change({ query: '' }, true);
      return;
    }
    const { zoomNode, tree } = this.zoomPanel;
    if (zoomNode !== 0) this.zoomTo({ panel: this.zoomPanel, node: tree.parent[zoomNode] });
  }

  openSearch() {
    byId('query').focus();
    byId('query').select();
  }

  openHelp() { byId('help').showModal(); }
  focusedName() { return this.describer.nameOf(this.focus.panel.tree, this.focus.node); }
  copyLink() { this.copyText(location.href, 'Link copied'); }
  announce(text) { byId('announce').textContent = text; }

  // The clipboard API is not there for every file:// page; a selected field always is.
  copyText(text, done) {
    const fallback = () => {
      const field = document.createElement('textarea');
      field.value = text;
      document.body.append(field);
      field.select();
      document.execCommand('copy');
      field.remove();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).catch(fallback);
    else fallback();
    this.announce(done);
  }
}

function escapeExpression(text) { return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'); }

performance.mark('vesta-start');
new App(JSON.parse(byId('data').textContent));
