// All that a graph needs to be looked at, made of the graph and the state: names, colours, what a search found.
import { signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { type Coloring, coloringOf } from '../engine/coloring';
import { fadedStyle, matchStyle } from '../engine/draw';
import type { Look } from '../engine/flame_canvas';
import { lostBelow } from '../engine/info';
import type { Graph } from '../engine/job';
import { Labels, nodeLabel } from '../engine/labels';
import { forcedPalette, type Palette, palettes } from '../engine/palette';
import { type Found, narrows, Occurrences, search } from '../engine/search';
import type { State } from '../state/state';
import { isDark } from '../state/theme';
import { type Match, matchOf } from '../text/match';

export interface Seen {
  graph: Graph;
  labels: Labels;
  coloring: Coloring;
  match: Match;
  found: Found | null;
  occurrences(): Occurrences; // made when first asked for
}

export function useSeen(graph: Graph | null | undefined, state: State): Seen | null {
  const labels = useMemo(() => (graph ? new Labels(graph.tree) : null), [graph]);
  const coloring = useMemo(
    () => (graph && labels ? coloringOf(state.color, graph.tree, labels) : null),
    [graph, labels, state.color],
  );
  const match = useMemo(() => matchOf(state.search), [state.search]);
  const last = useRef<{ labels: Labels; text: string; names: Uint8Array } | null>(null);
  const found = useMemo(() => {
    if (!graph || !labels || match.empty || match.error) return null;
    const before = last.current;
    const among = before?.labels === labels && narrows(before.text, state.search) ? before.names : undefined;
    const result = search(graph, labels, match.test, among);
    last.current = { labels, text: state.search, names: result.names };
    return result;
  }, [graph, labels, match]);
  // The first search needs all names: they are made while nobody waits.
  useEffect(() => {
    if (!labels || typeof requestIdleCallback === 'undefined') return;
    let name = 0;
    const some = (deadline: IdleDeadline) => {
      while (name < labels.count && deadline.timeRemaining() > 1) {
        for (const end = Math.min(labels.count, name + 200); name < end; name++) labels.step(name);
      }
      if (name < labels.count) handle = requestIdleCallback(some);
    };
    let handle = requestIdleCallback(some);
    return () => cancelIdleCallback(handle);
  }, [labels]);
  const occurrences = useMemo(() => {
    let made: Occurrences | undefined;
    return () => {
      made ??= new Occurrences(graph!);
      return made;
    };
  }, [graph]);
  return useMemo(
    () => (graph && labels && coloring ? { graph, labels, coloring, match, found, occurrences } : null),
    [graph, labels, coloring, match, found, occurrences],
  );
}

const forced = signal(false);

export function useForcedColors(): boolean {
  useEffect(() => {
    const query = matchMedia('(forced-colors: active)');
    const update = () => {
      forced.value = query.matches;
    };
    update();
    query.addEventListener('change', update);
    return () => query.removeEventListener('change', update);
  }, []);
  return forced.value;
}

export function currentPalette(isForced: boolean): Palette {
  if (isForced) return forcedPalette();
  return isDark() ? palettes.dark : palettes.light;
}

// Whether what a bar says may be chance, by name; null where nothing is. The root is the sum of all.
export function doubtsOf(
  { graph, labels }: Pick<Seen, 'graph' | 'labels'>,
  significant: ReadonlySet<string> | null,
): Uint8Array | null {
  const { tree } = graph;
  if (!significant || !tree.before) return null;
  const doubts = new Uint8Array(labels.count);
  for (let name = 0; name < labels.count; name++) doubts[name] = significant.has(labels.step(name)) ? 0 : 1;
  doubts[tree.name[0]] = 0;
  return doubts;
}

export function lookOf(
  seen: Seen,
  state: State,
  palette: Palette,
  isForced: boolean,
  flip: boolean,
  significant: ReadonlySet<string> | null = null,
): Look {
  const { graph, labels, coloring, found } = seen;
  const { tree } = graph;
  const { isolate, shorten } = state;
  const doubts = doubtsOf(seen, significant);
  const style = (node: number): number => {
    if (found) return found.names[tree.name[node]] ? matchStyle : fadedStyle + coloring.bucket(node);
    if (isolate && coloring.key(node) !== isolate) return fadedStyle + coloring.bucket(node);
    if (doubts?.[tree.name[node]] && !isolate) return fadedStyle + coloring.bucket(node);
    return coloring.bucket(node);
  };
  const before = tree.before?.total;
  return {
    graph,
    palette,
    flip,
    forced: isForced,
    style,
    label: (node) => nodeLabel(tree, labels, node, shorten),
    matches: found?.places ?? null,
    isNew: before ? (node) => before[node] <= 0 : null,
    lost: before ? (node) => lostBelow(graph, node) > 0 : null,
    inlined: tree.inlined && ((node) => tree.inlined![node] === 1),
  };
}
