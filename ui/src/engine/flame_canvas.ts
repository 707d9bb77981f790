// The flame graph on the page: two canvases in an element, one for the bars and one for what follows the pointer. Knows
// about pixels, pointers and time, nothing about the rest of the page; that hears of everything by callbacks.
import { draw, drawMarks, type Marks, type Scene } from './draw';
import { type Hit, hitTest } from './hit';
import type { Graph } from './job';
import type { Palette } from './palette';
import { between, transitionTime } from './transition';
import { clampView, pan, type Screen, type View, viewOfNode, wholeView, zoomAt } from './view';

export const rowHeight = 20;
const fontSize = 12;

// What the owner decides; everything else follows from size and view.
export interface Look {
  graph: Graph;
  palette: Palette;
  flip: boolean;
  forced: boolean;
  style(node: number): number;
  label(node: number): string;
  matches: Uint32Array | null;
  isNew: ((node: number) => boolean) | null;
  lost: ((node: number) => boolean) | null;
  inlined: ((node: number) => boolean) | null;
}

export interface Point {
  x: number; // in the window
  y: number;
}

export interface Listener {
  hover(hit: Hit | null, at: Point): void;
  click(hit: Hit, event: PointerEvent): void;
  menu(hit: Hit, at: Point): void;
  moved(view: View, screen: Screen): void; // whatever moved it
}

function makeHatch(context: CanvasRenderingContext2D, color: string, gap: number, line: number) {
  const tile = document.createElement('canvas');
  tile.width = gap;
  tile.height = gap;
  const inner = tile.getContext('2d');
  if (!inner) return color;
  inner.strokeStyle = color;
  inner.lineWidth = line;
  inner.beginPath();
  for (const shift of [-gap, 0, gap]) {
    inner.moveTo(shift - line, gap + line);
    inner.lineTo(shift + gap + line, -line);
  }
  inner.stroke();
  return context.createPattern(tile, 'repeat') ?? color;
}

export class FlameCanvas {
  view: View = { x: 0, width: 1, top: 0 };
  screen: Screen = { width: 1, height: 1, row: rowHeight, flip: false };
  marks: Marks = { occurrences: null, hovered: -1, focused: -1 };
  private look: Look | null = null;
  private readonly bars = document.createElement('canvas');
  private readonly overlay = document.createElement('canvas');
  private readonly observer: ResizeObserver;
  private ratio = 1;
  private font = '';
  private charWidth = 7;
  private hatches: {
    palette: Palette;
    ratio: number;
    cut: string | CanvasPattern;
    fresh: string | CanvasPattern;
  } | null = null;
  private frame = 0;
  private barsDue = false;
  private marksDue = false;
  private animation: { from: View; to: View; begin: number } | null = null;
  private drag: { x: number; y: number; moved: boolean; pointer: number } | null = null;
  private readonly stopListening = new AbortController();
  private drawn: Graph | null = null;
  private marked = false; // something is on the overlay
  free = false; // moved by hand since the last zoom to a node

  constructor(
    private readonly host: HTMLElement,
    private readonly listener: Listener,
  ) {
    for (const canvas of [this.bars, this.overlay]) {
      canvas.className = 'flame-canvas';
      canvas.setAttribute('aria-hidden', 'true');
      host.append(canvas);
    }
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(host);
    const options = { signal: this.stopListening.signal };
    const top = this.overlay;
    top.addEventListener('pointermove', (event) => this.onMove(event), options);
    top.addEventListener('pointerdown', (event) => this.onDown(event), options);
    top.addEventListener('pointerup', (event) => this.onUp(event), options);
    top.addEventListener('pointercancel', () => this.endDrag(), options);
    top.addEventListener(
      'pointerleave',
      (event) => this.listener.hover(null, { x: event.clientX, y: event.clientY }),
      options,
    );
    top.addEventListener('contextmenu', (event) => this.onMenu(event), options);
    top.addEventListener('wheel', (event) => this.onWheel(event), { ...options, passive: false });
    this.resize();
  }

  dispose() {
    this.stopListening.abort();
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    this.bars.remove();
    this.overlay.remove();
  }

  // Another graph is shown at the same place: it may be the same profile a few seconds later. Who knows better goes to
  // another one afterwards.
  setLook(look: Look) {
    const before = this.look?.graph;
    const isNew = before !== look.graph;
    this.look = look;
    this.screen.flip = look.flip;
    if (isNew) {
      this.animation = null;
      this.marks = { occurrences: null, hovered: -1, focused: -1 };
      const { layout } = look.graph;
      const grown = before ? (layout.width || 1) / (before.layout.width || 1) : 1;
      const same = { ...this.view, x: this.view.x * grown, width: this.view.width * grown };
      this.view = before ? clampView(same, layout, this.screen) : wholeView(layout);
      this.listener.moved(this.view, this.screen);
    }
    this.drawSoon();
  }

  setMarks(change: Partial<Marks>) {
    this.marks = { ...this.marks, ...change };
    this.marksDue = true;
    this.schedule();
  }

  zoomTo(node: number, animate: boolean) {
    if (!this.look) return;
    this.free = false;
    this.goTo(viewOfNode(this.look.graph.layout, node, this.screen, this.animation?.to ?? this.view), animate);
  }

  goTo(view: View, animate: boolean) {
    if (!this.look) return;
    const to = clampView(view, this.look.graph.layout, this.screen);
    const reduced = matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (!animate || reduced) {
      this.animation = null;
      this.setView(to);
    } else {
      this.animation = { from: this.view, to, begin: performance.now() };
      this.schedule();
    }
  }

  // So that a node of the keyboard is on screen, without zooming more than needed.
  reveal(node: number) {
    if (!this.look) return;
    const { layout } = this.look.graph;
    const y = layout.depth[node] * this.screen.row;
    const x = layout.bars.x[node];
    const width = layout.bars.width[node];
    const view = { ...(this.animation?.to ?? this.view) };
    if (y < view.top) view.top = y;
    if (y + this.screen.row > view.top + this.screen.height) view.top = y + this.screen.row - this.screen.height;
    const thin = (width / view.width) * this.screen.width < 2;
    if (thin) {
      view.width = Math.max(width * 4, width * 1.0001);
      view.x = x - width * 1.5;
    } else if (x + width <= view.x || x >= view.x + view.width) {
      view.x = x + width / 2 - view.width / 2;
    }
    this.goTo(view, true);
  }

  scrollTo(top: number, x = this.view.x) {
    this.goTo({ ...this.view, top, x }, false);
  }

  hitAt(at: Point): Hit | null {
    if (!this.look) return null;
    const box = this.overlay.getBoundingClientRect();
    const px = (at.x - box.left) * this.ratio;
    const py = (at.y - box.top) * this.ratio;
    return hitTest(this.look.graph, this.view, this.screen, this.look.style, px, py);
  }

  // Where a node is in the window, for menus opened by keyboard.
  pointOf(node: number): Point {
    const box = this.overlay.getBoundingClientRect();
    const { layout } = this.look!.graph;
    const x = ((layout.bars.x[node] - this.view.x) / this.view.width) * box.width;
    const y = (layout.depth[node] + 1) * rowHeight - this.view.top / this.ratio;
    return {
      x: box.left + Math.max(0, Math.min(box.width - 40, x)) + 12,
      y: this.screen.flip ? box.bottom - y + rowHeight : box.top + Math.min(y, box.height),
    };
  }

  toBlob(): Promise<Blob | null> {
    this.paintBars();
    return new Promise((resolve) => this.bars.toBlob(resolve, 'image/png'));
  }

  drawSoon() {
    this.barsDue = true;
    this.marksDue = true;
    this.schedule();
  }

  private setView(view: View) {
    this.view = view;
    this.listener.moved(view, this.screen);
    this.drawSoon();
  }

  // The first picture waits for no frame, only for what is put beside it in the same go.
  private schedule() {
    if (this.frame !== 0) return;
    if (this.drawn) this.frame = requestAnimationFrame((now) => this.onFrame(now));
    else {
      this.frame = -1;
      queueMicrotask(() => {
        if (!this.stopListening.signal.aborted) this.onFrame(performance.now());
      });
    }
  }

  private onFrame(now: number) {
    this.frame = 0;
    if (!this.drawn) this.resize(); // the observer would tell after it
    if (this.animation) {
      const { from, to, begin } = this.animation;
      const t = Math.max(0, (now - begin) / transitionTime);
      this.view = between(from, to, t);
      if (t >= 1) this.animation = null;
      this.listener.moved(this.view, this.screen);
      this.barsDue = true;
      this.marksDue = true;
      if (this.animation) this.schedule();
    }
    if (this.barsDue) this.paintBars();
    if (this.marksDue) this.paintMarks();
  }

  private scene(context: CanvasRenderingContext2D): Scene | null {
    if (!this.look) return null;
    const { palette } = this.look;
    if (this.hatches?.palette !== palette || this.hatches.ratio !== this.ratio) {
      this.hatches = {
        palette,
        ratio: this.ratio,
        cut: makeHatch(context, palette.line, Math.round(6 * this.ratio), Math.max(1, this.ratio)),
        fresh: makeHatch(context, palette.ink, Math.round(10 * this.ratio), Math.max(1, 0.75 * this.ratio)),
      };
    }
    return {
      ...this.look,
      view: this.view,
      screen: this.screen,
      font: this.font,
      charWidth: this.charWidth,
      ratio: this.ratio,
      cutHatch: this.hatches.cut,
      newHatch: this.hatches.fresh,
    };
  }

  private paintBars() {
    this.barsDue = false;
    const context = this.bars.getContext('2d', { alpha: false });
    const scene = context && this.scene(context);
    if (!context || !scene) return;
    draw(context, scene);
    if (scene.graph !== this.drawn) performance.mark('vesta:flame-drawn'); // benchmarks and tests wait for it
    this.drawn = scene.graph;
  }

  private paintMarks() {
    this.marksDue = false;
    const { occurrences, hovered, focused } = this.marks;
    const any = occurrences !== null || hovered >= 0 || focused >= 0;
    if (!any && !this.marked) return;
    this.marked = any;
    const context = this.overlay.getContext('2d');
    const scene = context && this.scene(context);
    if (!context || !scene) return;
    context.clearRect(0, 0, this.screen.width, this.screen.height);
    drawMarks(context, scene, this.marks);
  }

  private resize() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.host;
    if (clientWidth === 0 || clientHeight === 0) return;
    const width = Math.round(clientWidth * ratio);
    const height = Math.round(clientHeight * ratio);
    if (width === this.screen.width && height === this.screen.height && ratio === this.ratio) return;
    const top = this.view.top / this.ratio;
    this.ratio = ratio;
    for (const canvas of [this.bars, this.overlay]) {
      canvas.width = width;
      canvas.height = height;
    }
    this.screen = { width, height, row: Math.round(rowHeight * ratio), flip: this.screen.flip };
    const family = getComputedStyle(this.host).getPropertyValue('--mono') || 'monospace';
    this.font = `${fontSize * ratio}px ${family}`;
    const context = this.bars.getContext('2d', { alpha: false });
    if (context) {
      context.font = this.font;
      this.charWidth = context.measureText('M'.repeat(20)).width / 20;
    }
    if (this.look) {
      this.view = clampView({ ...this.view, top: top * ratio }, this.look.graph.layout, this.screen);
      this.listener.moved(this.view, this.screen);
      // At once: a resized canvas is empty, and would flash.
      this.paintBars();
      this.paintMarks();
    }
  }

  private onMove(event: PointerEvent) {
    if (this.drag && this.look) {
      const dx = (event.clientX - this.drag.x) * this.ratio;
      const dy = (event.clientY - this.drag.y) * this.ratio;
      if (this.drag.moved || Math.abs(dx) + Math.abs(dy) > 5 * this.ratio) {
        if (!this.drag.moved) this.overlay.setPointerCapture(this.drag.pointer);
        this.drag = { ...this.drag, x: event.clientX, y: event.clientY, moved: true };
        this.overlay.style.cursor = 'grabbing';
        this.free = true;
        this.animation = null;
        this.setView(pan(this.view, dx, dy, this.look.graph.layout, this.screen));
        return;
      }
    }
    const hit = this.hitAt({ x: event.clientX, y: event.clientY });
    this.overlay.style.cursor = hit ? 'pointer' : 'default';
    this.listener.hover(hit, { x: event.clientX, y: event.clientY });
  }

  private onDown(event: PointerEvent) {
    if (event.button !== 0) return;
    this.drag = { x: event.clientX, y: event.clientY, moved: false, pointer: event.pointerId };
  }

  private onUp(event: PointerEvent) {
    if (event.button !== 0) return;
    const moved = this.drag?.moved ?? true;
    this.endDrag();
    if (moved) return;
    const hit = this.hitAt({ x: event.clientX, y: event.clientY });
    if (hit) this.listener.click(hit, event);
  }

  private endDrag() {
    this.drag = null;
    this.overlay.style.cursor = 'default';
  }

  private onMenu(event: MouseEvent) {
    event.preventDefault();
    this.drag = null;
    const at = { x: event.clientX, y: event.clientY };
    const hit = this.hitAt(at);
    if (hit) this.listener.menu(hit, at);
  }

  // With Ctrl (or a pinch, which browsers report as that) nearer and farther; sideways pans; else the levels scroll, as
  // long as there are any: at the end the page takes over.
  private onWheel(event: WheelEvent) {
    if (!this.look) return;
    const { layout } = this.look.graph;
    const unit = event.deltaMode === 1 ? 20 : event.deltaMode === 2 ? 200 : 1;
    const dx = event.deltaX * unit * this.ratio;
    const dy = event.deltaY * unit * this.ratio;
    const from = this.animation?.to ?? this.view;
    let to: View;
    if (event.ctrlKey || event.metaKey) {
      const box = this.overlay.getBoundingClientRect();
      to = zoomAt(
        from,
        Math.exp(Math.max(-1, Math.min(1, dy / this.ratio / 240))),
        (event.clientX - box.left) * this.ratio,
        layout,
        this.screen,
      );
      event.preventDefault();
    } else {
      const sideways = event.shiftKey ? dy : dx;
      to = pan(from, -sideways, event.shiftKey ? 0 : -dy, layout, this.screen);
      if (to.top !== from.top || to.x !== from.x) event.preventDefault();
    }
    this.animation = null;
    this.free = true;
    this.setView(to);
    this.listener.hover(this.hitAt({ x: event.clientX, y: event.clientY }), { x: event.clientX, y: event.clientY });
  }
}
