// Paints panels on a canvas. Work is bounded by the pixels on screen, not by the size of the tree: each
// visible row is entered by binary search, and frames narrower than two pixels are dots of a strip that is
// stretched to the height of its row. Hover and focus are outlines on a second canvas above it.

const LABEL_FONT = '12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';
const LABEL_PADDING = 4;
const THIN = 2;

function parseColor(text) {
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

function mixColors(a, b, share) {
  const to = parseColor(b);
  const mixed = parseColor(a).map((from, i) => Math.round(from + (to[i] - from) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

// As a pixel of ImageData.
function pixelOf(color) {
  return new Uint32Array(new Uint8ClampedArray([...parseColor(color), 255]).buffer)[0];
}

class Painter {
  constructor(canvas, overlay, data) {
    this.canvas = canvas;
    this.overlay = overlay;
    this.data = data;
    this.context = canvas.getContext('2d', { alpha: false });
    this.above = overlay.getContext('2d');
    this.strip = document.createElement('canvas');
    this.context.font = LABEL_FONT;
    this.columnWidth = this.context.measureText('0'.repeat(100)).width / 100;
  }

  setTheme(isDark) {
    const theme = isDark ? 'dark' : 'light';
    const style = getComputedStyle(document.documentElement);
    const token = (name) => style.getPropertyValue(name).trim();
    this.page = token('--page');
    this.ink = token('--box-ink');
    this.dimInk = token('--muted');
    this.accent = token('--accent');
    this.ring = token('--ring');
    this.colors = (this.data.before === undefined ? this.data.colors : this.data.diffColors)[theme];
    this.dimColors = this.colors.map((color) => mixColors(color, this.page, 0.72));
    this.pixels = Uint32Array.from(this.colors, pixelOf);
    this.dimPixels = Uint32Array.from(this.dimColors, pixelOf);
    this.accentPixel = pixelOf(this.accent);
    this.hatch = this.makeHatch();
  }

  makeHatch() {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 8;
    const context = tile.getContext('2d');
    context.strokeStyle = '#ffffff'; // lighter than the box, so that the label gains contrast
    context.globalAlpha = 0.5;
    context.lineWidth = 2;
    for (const shift of [-8, 0, 8]) {
      context.moveTo(shift, 8);
      context.lineTo(shift + 8, 0);
    }
    context.stroke();
    return this.context.createPattern(tile, 'repeat');
  }

  resize(width, height) {
    const ratio = window.devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    for (const canvas of [this.canvas, this.overlay]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
      canvas.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.strip.width = Math.max(1, Math.ceil(width));
    this.strip.height = Math.ceil(height / ROW_HEIGHT) + 1;
    this.dots = this.strip.getContext('2d').createImageData(this.strip.width, this.strip.height);
    this.dotPixels = new Uint32Array(this.dots.data.buffer);
  }

  colorIndex(tree, node) {
    if (!tree.hasBefore) return this.data.frames.color[tree.frame[node]];
    const step = diffStep(tree.totalBefore[node], tree.total[node], this.data.diffBounds);
    return step + this.data.diffBounds.length;
  }

  // scene: {panels, scrollTop, search, matchesOf(tree), focus, hover: {panel, node} | null}
  paint(scene) {
    const { context } = this;
    context.fillStyle = this.page;
    context.fillRect(0, 0, this.width, this.height);
    context.textBaseline = 'alphabetic';
    context.direction = 'ltr';
    context.font = LABEL_FONT;
    this.dotPixels.fill(0);
    const firstRow = Math.floor(scene.scrollTop / ROW_HEIGHT);
    const lastRow = firstRow + this.strip.height - 1;
    scene.panels.forEach((panel, index) => {
      for (let row = firstRow; row <= lastRow; row++) {
        const depth = panel.depthAt(row);
        // In a sandwich both panels begin with the same function: the first one draws it.
        if (depth < (index === 0 ? 0 : 1) || depth > panel.tree.maxDepth) continue;
        const dots = (row - firstRow) * this.strip.width;
        this.paintRow(scene, panel, depth, row * ROW_HEIGHT - scene.scrollTop, dots);
      }
      if (scene.search.active) this.markThinMatches(scene, panel, firstRow, lastRow);
    });
    this.paintDots(firstRow * ROW_HEIGHT - scene.scrollTop);
    this.paintOverlay(scene);
  }

  paintRow(scene, panel, depth, y, dots) {
    const { context, width } = this;
    const { tree, from, to } = panel;
    const scale = width / (to - from);
    const end = tree.levels[depth + 1];
    const isAncestor = depth < tree.depth[panel.zoomNode];
    for (let node = tree.findAt(depth, from); node < end && tree.start[node] < to;) {
      const left = (tree.start[node] - from) * scale;
      const right = left + tree.extent[node] * scale;
      const isHit = scene.search.active && scene.search.hits[tree.frame[node]] === 1;
      const dimmed = isAncestor || (scene.search.active && !isHit);
      const color = this.colorIndex(tree, node);
      if (right - left < THIN) {
        node = this.dotRun(tree, node, depth, { left, right, from, scale, dots }, (dimmed ? this.dimPixels : this.pixels)[color]);
        continue;
      }
      const x = Math.max(left, 0);
      const boxWidth = Math.min(right, width) - x;
      const shown = boxWidth > 3 ? boxWidth - 0.7 : boxWidth;
      context.fillStyle = (dimmed ? this.dimColors : this.colors)[color];
      context.fillRect(x, y, shown, ROW_HEIGHT - 1);
      if (changeAt(tree, node) === 'gone') {
        context.fillStyle = this.hatch;
        context.fillRect(x, y, shown, ROW_HEIGHT - 1);
      }
      if (isHit) frameBox(context, x, y, shown, this.accent, 1.5);
      this.paintLabel(tree, node, x, y, boxWidth, dimmed, isHit);
      node++;
    }
  }

  // Marks the pixels of a thin frame and returns the node to go on with: frames that share its last pixel are
  // passed over. A pixel that is hardly covered stays empty.
  dotRun(tree, node, depth, { left, right, from, scale, dots }, pixel) {
    const first = Math.max(0, Math.floor(left));
    const last = Math.min(this.strip.width - 1, Math.max(first, Math.ceil(right) - 1));
    const next = Math.max(node + 1, tree.findAt(depth, from + (first + 1) / scale));
    const covered = (tree.start[next - 1] + tree.extent[next - 1] - tree.start[node]) * scale;
    if (covered >= 0.25) this.dotPixels.fill(pixel, dots + first, dots + last + 1);
    return next;
  }

  paintDots(top) {
    this.strip.getContext('2d').putImageData(this.dots, 0, 0);
    this.context.imageSmoothingEnabled = false;
    for (let row = 0; row < this.strip.height; row++) {
      this.context.drawImage(this.strip, 0, row, this.strip.width, 1,
          0, top + row * ROW_HEIGHT, this.strip.width, ROW_HEIGHT - 1);
    }
  }

  paintLabel(tree, node, x, y, boxWidth, dimmed, bold) {
    const columns = Math.floor((boxWidth - LABEL_PADDING * 2) / this.columnWidth);
    if (columns < 1) return;
    const { name, short } = this.data.frames;
    const frame = tree.frame[node];
    const label = fitChangedLabel(name[frame], short[frame] || name[frame], changeAt(tree, node), columns);
    if (!label) return;
    const { context } = this;
    context.fillStyle = dimmed ? this.dimInk : this.ink;
    const style = (tree.inlined[node] ? 'italic ' : '') + (bold ? 'bold ' : '');
    if (style) context.font = style + LABEL_FONT;
    // Wide characters take more than a column: what does not fit is squeezed, never spilt.
    context.fillText(label, x + LABEL_PADDING, y + 14, boxWidth - LABEL_PADDING);
    if (style) context.font = LABEL_FONT;
  }

  // A match must be seen however thin its frame is: two pixels at least.
  markThinMatches(scene, panel, firstRow, lastRow) {
    const { tree } = panel;
    const scale = this.width / (panel.to - panel.from);
    for (const node of scene.matchesOf(tree)) {
      const row = panel.rowOf(node);
      if (row < firstRow || row > lastRow || tree.extent[node] * scale >= THIN) continue;
      const x = Math.floor((tree.start[node] - panel.from) * scale);
      if (x < 0 || x + THIN > this.strip.width) continue;
      const at = (row - firstRow) * this.strip.width + x;
      this.dotPixels.fill(this.accentPixel, at, at + THIN);
    }
  }

  // The frame under the pointer, every other place of the same function, and the focus ring.
  paintOverlay({ panels, scrollTop, hover, focus }) {
    const { above, width } = this;
    above.clearRect(0, 0, width, this.height);
    const outline = ({ panel, node }, color, lineWidth, narrowest) => {
      const box = panel.boxOf(node, width);
      const left = Math.max(box.x, 0);
      const right = Math.min(box.x + box.width, width);
      const y = box.y - scrollTop;
      if (right < 0 || left > width || right - left < narrowest || y < -ROW_HEIGHT || y > this.height) return;
      frameBox(above, left, y, Math.max(right - left - 0.7, 1), color, lineWidth);
    };
    if (hover) {
      const frame = hover.panel.tree.frame[hover.node];
      for (const panel of panels) {
        for (const node of panel.tree.nodesOf(frame)) outline({ panel, node }, this.ring, 0.75, THIN);
      }
      outline(hover, this.ring, 1.5, 0);
    }
    if (focus) outline(focus, this.accent, 2, 0);
  }
}

function frameBox(context, x, y, width, color, lineWidth) {
  context.strokeStyle = color;
  context.lineWidth = lineWidth;
  const inset = lineWidth / 2;
  context.strokeRect(x + inset, y + inset, Math.max(width - lineWidth, 0.5), ROW_HEIGHT - 1 - lineWidth);
}
