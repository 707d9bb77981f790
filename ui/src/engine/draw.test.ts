import { describe, expect, it } from 'vitest';
import { type Context, draw, fillOf, fitLabel, labelWidth, type Scene } from './draw';
import { hitTest } from './hit';
import { Labels } from './labels';
import { search } from './search';
import { Recorder } from './testing/recorder';
import { graphOf, sceneOf } from './testing/scenes';
import { random } from './testing/synthetic';
import { clampView } from './view';

function paint(scene: Scene): Recorder {
  const recorder = new Recorder();
  draw(recorder as unknown as Context, scene);
  return recorder;
}

// The whole, parts of it, and parts so small that numbers get near to their end.
function views(scene: Scene, count: number): Scene[] {
  const next = random(count);
  const { layout } = scene.graph;
  return Array.from({ length: count }, (_, i) => {
    const width = layout.width * 10 ** (-i / 3);
    const view = { x: next() * (layout.width - width), width, top: Math.floor(next() * layout.levels * 20) };
    return { ...scene, view: clampView(view, layout, scene.screen), screen: { ...scene.screen, flip: i % 3 === 2 } };
  });
}

const big = graphOf({ nodes: 20_000, seed: 11, cut: true });
const scenes = [sceneOf(big), ...views(sceneOf(big), 12), ...views(sceneOf(big, 333, 217), 6)];

describe('drawing', () => {
  it('never drops a frame of a pixel or more', () => {
    const dropped: number[] = [];
    for (const scene of scenes) {
      const { bars, depth } = scene.graph.layout;
      const { view, screen } = scene;
      const scale = screen.width / view.width;
      const rects = paint(scene)
        .painted.filter(({ kind }) => kind === 'fill')
        .slice(1);
      const painted = new Set(rects.map(({ x, y }) => `${x} ${y}`));
      for (let node = 0; node < scene.graph.tree.count; node++) {
        const begin = (bars.x[node] - view.x) * scale;
        const wide = bars.width[node] * scale;
        const y = depth[node] * screen.row - view.top;
        if (wide < 1 || Math.round(begin) >= screen.width || Math.round(begin + wide) <= 0) continue;
        if (y + screen.row <= 0 || y >= screen.height) continue;
        const top = screen.flip ? screen.height - y - screen.row : y;
        if (!painted.has(`${Math.max(0, Math.round(begin))} ${top}`)) dropped.push(node);
      }
    }
    expect(dropped).toEqual([]);
  });

  it('agrees with what is found under any point', () => {
    const next = random(4);
    for (const scene of scenes) {
      const { screen, palette } = scene;
      const rects = paint(scene)
        .painted.filter(({ kind, style }) => kind === 'fill' && style !== palette.line)
        .slice(1);
      for (let i = 0; i < 300; i++) {
        const px = Math.floor(next() * screen.width);
        const py = Math.floor(next() * screen.height);
        const hit = hitTest(scene.graph, scene.view, screen, scene.style, px + 0.5, py + 0.5);
        const under = rects.findLast((r) => px >= r.x && px < r.x + r.width && py >= r.y && py < r.y + r.height);
        // Between bars is a line that belongs to the bar, though the ground is seen there.
        if (!under) {
          if (hit)
            expect(
              px === hit.right - 1 || (py - (screen.flip ? screen.height : -scene.view.top)) % screen.row !== 0,
            ).toBe(true);
          continue;
        }
        expect(hit).not.toBeNull();
        if (px === hit!.right - 1 && under.style === 'cut') continue;
        expect(hit!.left).toBe(under.x);
        if (hit!.kind === 'cut') expect(under.style).toBe('cut');
        if (hit!.kind === 'bar') expect(under.style).toBe(fillOf(palette, scene.style(hit!.node)));
      }
    }
  });

  it('has bars that do not lie on each other', () => {
    const over: [number, number][] = [];
    for (const scene of scenes) {
      const rows = new Map<number, [number, number][]>();
      for (const { kind, style, x, y, width } of paint(scene).painted.slice(1)) {
        if (kind === 'fill' && style !== scene.palette.line && style !== 'cut')
          rows.set(y, [...(rows.get(y) ?? []), [x, x + width]]);
      }
      for (const row of rows.values()) {
        row.sort((a, b) => a[0] - b[0]);
        for (let i = 1; i < row.length; i++) if (row[i][0] < row[i - 1][1]) over.push(row[i]);
      }
    }
    expect(over).toEqual([]);
  });

  it('says how many frames a run has and what they weigh', () => {
    const scene = scenes[0];
    let runs = 0;
    for (let px = 0; px < 1200; px++) {
      const hit = hitTest(scene.graph, scene.view, scene.screen, scene.style, px, 20 * 12 + 5);
      if (hit?.kind !== 'run') continue;
      runs++;
      expect(hit.count).toBeGreaterThan(1);
      expect(hit.weight).toBeGreaterThanOrEqual(scene.graph.tree.after.total[hit.node]);
    }
    expect(runs).toBeGreaterThan(0);
  });

  it('paints far fewer rectangles than there are frames', () => {
    expect(paint(scenes[0]).painted.length).toBeLessThan(15_000);
  });

  it('keeps text inside of its bar, and off bars too narrow for any', () => {
    for (const scene of scenes) {
      const recorder = paint(scene);
      const rects = recorder.painted.filter(({ kind }) => kind === 'fill').slice(1);
      for (const { x, y, text } of recorder.painted.filter(({ kind }) => kind === 'text')) {
        const bar = rects.find((r) => r.x <= x && x < r.x + r.width && r.y <= y && y < r.y + r.height)!;
        expect(bar.width).toBeGreaterThanOrEqual(labelWidth - 1);
        expect(x + text.length * scene.charWidth).toBeLessThanOrEqual(bar.x + bar.width);
      }
    }
  });

  it('lights every match, also those too narrow to be seen', () => {
    const labels = new Labels(big.tree);
    const found = search(big, labels, (step) => step.includes('parse_1'));
    const base = sceneOf(big);
    const scene: Scene = {
      ...base,
      screen: { ...base.screen, height: 2000 },
      matches: found.places,
      style: (node) => (found.names[big.tree.name[node]] ? 128 : 64 + base.style(node)),
    };
    const lit = new Map<number, Set<number>>();
    for (const { style, x, y, width } of paint(scene).painted) {
      if (style !== scene.palette.match.fill) continue;
      const row = lit.get(y) ?? new Set();
      for (let px = x; px < x + width; px++) row.add(px);
      lit.set(y, row);
    }
    const { bars, depth } = big.layout;
    let dark = 0;
    for (const place of found.places) {
      const node = bars.ids[place];
      const px = Math.floor((bars.x[node] / big.layout.width) * 1200);
      const row = lit.get(depth[node] * 20);
      if ([px - 1, px, px + 1].some((near) => row?.has(near))) continue;
      // Only where wider bars on both sides leave no pixel.
      expect(bars.width[node] * (1200 / big.layout.width)).toBeLessThan(1);
      dark++;
    }
    expect(found.count).toBeGreaterThan(100);
    expect(dark).toBeLessThan(found.count * 0.05);
  });
});

describe('labels', () => {
  it('fit, and prefer the function to its namespace', () => {
    expect(fitLabel('shop::cart::add', 20)).toBe('shop::cart::add');
    expect(fitLabel('shop::cart::add', 10)).toBe('add');
    expect(fitLabel('int f(std::vector<std::string> const&)', 12)).toBe('int f(std::…');
    expect(fitLabel('main_loop', 6)).toBe('main_…');
    expect(fitLabel('main_loop', 2)).toBe('');
    expect(fitLabel('関数の名前', 6)).toBe('関数…');
  });
});
