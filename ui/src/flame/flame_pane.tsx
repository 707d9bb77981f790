// The flame graph of the current state with all that belongs to it. Thin: what it knows is in the modules beside it.
import { useComputed, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Point } from '../engine/flame_canvas';
import type { Hit } from '../engine/hit';
import { goneNodes, type Info, infoOfHit, infoOfNode, wholeOf } from '../engine/info';
import { resolvePath } from '../engine/labels';
import { heaviest } from '../engine/search';
import { cutBelow } from '../engine/tree';
import { copyText } from '../parts/clipboard';
import { showFrameMenu } from '../parts/frame_menu';
import { StepsBar } from '../parts/steps_bar';
import { Warnings } from '../parts/warnings';
import { significantFunctions } from '../state/selection';
import { amend, go, state } from '../state/store';
import { samplesNote } from '../text/basis';
import { formatCount, formatShare } from '../text/format';
import { measureOf } from '../text/measure';
import { clippedText } from '../text/safe';
import { useAnswers } from './answers';
import { Crumbs } from './crumbs';
import { DetailsLine } from './details';
import { useFlameCommands } from './flame_commands';
import { FrameList } from './frame_list';
import { type GraphHandle, GraphView, stepsTo } from './graph_view';
import { Legend } from './legend';
import { type Seen, useSeen } from './look';
import { fullBudget, largerBudget, mostNodes } from './question';
import { Sandwich } from './sandwich_view';
import { EmptyState, ErrorState, NothingChosen } from './states';
import { type SearchHandle, Toolbar } from './toolbar';
import './flame.css';

let shownGraph: GraphHandle | null = null;

// What is on screen, as an image; null when there is no flame graph.
export function exportPng(): Promise<Blob | null> {
  return shownGraph ? shownGraph.canvas.toBlob() : Promise.resolve(null);
}

type Open = 'matches' | 'gone' | null;

export function FlamePane({ compare }: { compare: boolean }) {
  const current = state.value;
  const answers = useAnswers();
  const data = answers.useFlame(compare);
  const main = useSeen(data.built?.main, current);
  const callers = useSeen(data.built?.callers, current);
  const callees = useSeen(data.built?.callees, current);
  const inSandwich = current.sandwich !== '' && callers !== null && callees !== null;
  const box = useRef<HTMLInputElement>(null);
  const mainHandle = useRef<GraphHandle | null>(null);
  // The graph that commands are about: handles are made anew at each rendering, so this holds where to find them.
  const active = useRef<RefObject<GraphHandle | null>>(mainHandle);
  const [open, setOpen] = useState<Open>(null);
  const hover = useSignal<Info | null>(null);
  const base = useSignal<Info | null>(null);
  const info = useComputed(() => hover.value ?? base.value);
  const spokenMatch = useSignal('');

  const zoomPath = current.zoom;
  const zoom = useMemo(
    () => (main ? resolvePath(main.graph.tree, main.labels, zoomPath) : { node: 0, found: 0 }),
    [main?.graph, zoomPath],
  );
  const cut = useMemo(() => (main ? cutBelow(main.graph.tree, 0) : { nodes: 0, weight: 0 }), [main?.graph]);
  const gone = useMemo(() => (main ? goneNodes(main.graph) : []), [main?.graph]);

  // What is cut at or below the place that one has zoomed to is asked for.
  const expandable = data.canExpand;
  const canGrow = answers.server && current.nodes < mostNodes;
  const canLoad = expandable || canGrow;
  // Where that cannot be, everything is, with a larger budget.
  const loadMore = (seen: Seen, node: number) => {
    if (!answers.server) return data.expand(stepsTo(seen, node));
    const nodes = largerBudget(current.nodes, seen.graph.tree.count, cutBelow(seen.graph.tree, node).nodes);
    if (nodes !== null && !data.loading) amend({ nodes });
  };
  useEffect(() => {
    if (!main || inSandwich || zoomPath.length === 0) return;
    // Bottom-up, what was cut may belong anywhere.
    if (!expandable && current.inverted) return loadMore(main, 0);
    const missing = zoom.found < zoomPath.length;
    if (missing ? main.graph.tree.cutNodes[zoom.node] > 0 : cutBelow(main.graph.tree, zoom.node).nodes > 0) {
      if (expandable) data.expand(zoomPath.slice(0, zoom.found));
      else loadMore(main, zoom.node);
    }
  }, [main?.graph, zoom, expandable, inSandwich, data.loading]);

  useEffect(() => {
    const about = inSandwich ? callees : main;
    base.value = about && infoOfNode(about.graph, about.labels, inSandwich ? 0 : zoom.node);
    hover.value = null;
  }, [main, callees, inSandwich, zoom]);
  useEffect(() => {
    if (!current.search) setOpen((was) => (was === 'matches' ? null : was));
  }, [current.search]);
  useEffect(() => {
    if (!inSandwich) active.current = mainHandle;
    shownGraph = active.current.current;
    return () => {
      shownGraph = null;
    };
  });

  const zoomTo = (node: number) => {
    if (main) go({ zoom: stepsTo(main, node) });
  };
  const onCut = (node: number) => {
    if (!main) return;
    // All that is below, as far as a server gives it: whoever clicks there wants to see it.
    const { tree } = main.graph;
    const budget = fullBudget(current.nodes, tree.end[node] - node, cutBelow(tree, node).nodes);
    if (expandable) data.expand(stepsTo(main, node), budget);
    zoomTo(node);
  };
  const onHover = (seen: Seen, hit: Hit | null) => {
    hover.value = hit ? infoOfHit(seen.graph, seen.labels, hit) : null;
  };
  const onFocusNode = (seen: Seen, node: number) => {
    hover.value = infoOfNode(seen.graph, seen.labels, node);
  };
  const onMenu = (seen: Seen, node: number, at: Point) => {
    if (node <= 0 && seen === main) return;
    const { tree } = seen.graph;
    const name = tree.name[node];
    showFrameMenu(
      at,
      {
        name: seen.labels.step(name),
        file: seen.labels.file(name),
        line: tree.names.line[name],
        binary: seen.labels.binary(name),
      },
      {
        source: answers.server,
        focus: seen === main ? [{ title: 'Zoom to this frame', key: 'Enter', run: () => zoomTo(node) }] : [],
        copy: [
          { title: 'Stack, from the root', run: () => copyText([...stepsTo(seen, node)].join('\n'), 'Stack copied') },
        ],
      },
    );
  };

  // Matches, the heaviest first; sorted when somebody wants to see them.
  const matches = useMemo(() => {
    let list: Uint32Array | undefined;
    return () => {
      list ??= main?.found ? heaviest(main.graph, main.found) : new Uint32Array(0);
      return list;
    };
  }, [main]);
  const place = useRef(-1);
  useEffect(() => {
    place.current = -1;
    spokenMatch.value = '';
  }, [matches]);
  const search: SearchHandle = {
    next: (by) => {
      const list = matches();
      const handle = mainHandle.current;
      if (list.length === 0 || !handle || inSandwich) return;
      place.current = place.current < 0 && by < 0 ? list.length - 1 : (place.current + by + list.length) % list.length;
      const node = list[place.current];
      handle.focusNode(node);
      const { title } = infoOfNode(main!.graph, main!.labels, node);
      spokenMatch.value = `Match ${place.current + 1} of ${formatCount(main!.found!.count)}: ${title}`;
    },
    list: () => setOpen((was) => (was === 'matches' ? null : 'matches')),
  };

  const canZoomOut = () => open !== null || zoomPath.length > 0 || current.sandwich !== '' || current.search !== '';
  useFlameCommands({
    box,
    search,
    compare,
    active: () => active.current.current,
    zoomIn: (handle, node) => {
      if (handle === mainHandle.current) zoomTo(node);
      else go({ sandwich: handle.seen.labels.step(handle.seen.graph.tree.name[node]) });
    },
    canZoomOut,
    zoomOut: () => {
      if (open !== null) setOpen(null);
      else if (current.sandwich) go({ sandwich: '' });
      else if (zoomPath.length > 0) go({ zoom: zoomPath.slice(0, -1) });
      else if (current.search) go({ search: '', matching: false });
      return true;
    },
    reset: () => {
      go({ zoom: [], sandwich: '' });
      mainHandle.current?.canvas.zoomTo(0, true);
    },
  });

  if (!main) {
    if (data.error) return <ErrorState error={data.error} />;
    if (!data.loading) return <NothingChosen compare={compare} />;
    return (
      <section class="flame" aria-busy="true" aria-label="Flame graph">
        {data.slow && (
          <p class="flame-wait muted" role="status">
            Loading the flame graph …
          </p>
        )}
      </section>
    );
  }
  const { source, steps, group, root, inverted, recursion, order, matching } = current;
  const shape = [source.query, source.file, steps, group, root, inverted, recursion, order, matching];
  const { tree } = main.graph;
  const empty = main.graph.layout.width <= 0 && (tree.before?.total[0] ?? 0) <= 0;
  const goneWeight = gone.reduce((sum, node) => sum + tree.before!.total[node], 0);
  const setActive = (handle: RefObject<GraphHandle | null>) => {
    active.current = handle;
  };
  return (
    <section class="flame" aria-busy={data.loading} aria-label="Flame graph">
      {(data.slow || data.expanding) && <div class="flame-progress" role="status" aria-label="Loading" />}
      <Toolbar seen={main} compare={compare} box={box} search={search} />
      <StepsBar />
      {!compare && <Warnings of={tree.header} />}
      <div class="hidden-text" role="status">
        {spokenMatch}
      </div>
      {data.error && (
        <p class="flame-stale" role="alert">
          Not up to date: {clippedText(data.error.message, 200)}
        </p>
      )}
      {current.sandwich !== '' && (
        <p class="flame-sandwich-head">
          <span class="muted">Callers and callees of</span> <b class="mono">{clippedText(current.sandwich, 120)}</b>
          {!inSandwich && data.sandwichError && (
            <span class="flame-bad">{clippedText(data.sandwichError.message, 160)}</span>
          )}
          <button type="button" onClick={() => go({ sandwich: '' })}>
            Close sandwich
          </button>
        </p>
      )}
      {!inSandwich && <Crumbs seen={main} node={zoom.node} shorten={current.shorten} onZoom={zoomTo} />}
      {empty ? (
        <EmptyState server={answers.server} />
      ) : inSandwich ? (
        <Sandwich
          callers={callers}
          callees={callees}
          of={current.sandwich}
          canLoad={canGrow || (expandable && !answers.server)}
          onMore={loadMore}
          onHover={onHover}
          onFocusNode={onFocusNode}
          onMenu={onMenu}
          onActive={setActive}
        />
      ) : (
        <GraphView
          seen={main}
          name="Flame graph"
          prefix="flame-node"
          flip={current.flip}
          zoomed={zoom.node}
          question={JSON.stringify(shape)}
          handle={mainHandle}
          canLoad={canLoad}
          onHover={onHover}
          onFocusNode={onFocusNode}
          onZoom={zoomTo}
          onCut={onCut}
          onMenu={onMenu}
          onActive={setActive}
        />
      )}
      {!empty && <DetailsLine info={info} />}
      {!empty && (
        <div class="flame-foot">
          <Legend seen={main} />
          <div class="flame-badges">
            {gone.length > 0 && (
              <button type="button" aria-haspopup="dialog" onClick={() => setOpen(open === 'gone' ? null : 'gone')}>
                <span class="flame-gone" aria-hidden="true" /> Only in baseline: {formatCount(gone.length)},{' '}
                {measureOf(tree.header).value(goneWeight)}
              </button>
            )}
            {cut.nodes > 0 ? (
              <span class="muted" title={canLoad ? 'Zoom into a hatched bar to load what was cut there' : undefined}>
                {formatCount(tree.count - 1)} of {formatCount(tree.count - 1 + cut.nodes)} nodes shown,{' '}
                {formatShare(cut.weight, wholeOf(main.graph))} cut
              </span>
            ) : (
              <span class="muted">{formatCount(tree.count - 1)} nodes</span>
            )}
            {!compare && <span class="muted">{samplesNote(tree.header)}</span>}
            {compare && significantFunctions.value && <span class="muted"> · pale: may be chance</span>}
          </div>
        </div>
      )}
      {open === 'matches' && main.found && (
        <FrameList
          title={`${formatCount(main.found.count)} matches`}
          seen={main}
          nodes={matches()}
          count={main.found.count}
          shorten={current.shorten}
          onChoose={(node) => {
            setOpen(null);
            zoomTo(node);
          }}
          onClose={() => setOpen(null)}
        />
      )}
      {open === 'gone' && (
        <FrameList
          title="Only in baseline"
          seen={main}
          nodes={gone}
          count={gone.length}
          before
          shorten={current.shorten}
          onChoose={(node) => {
            setOpen(null);
            zoomTo(Math.max(0, tree.parent[node]));
          }}
          onClose={() => setOpen(null)}
        />
      )}
    </section>
  );
}
