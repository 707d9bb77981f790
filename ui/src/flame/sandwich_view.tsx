// One function with its callers above and its callees below, as two flame graphs that meet in it.
import type { RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Point } from '../engine/flame_canvas';
import type { Hit } from '../engine/hit';
import { resolvePath } from '../engine/labels';
import { type GraphHandle, GraphView, stepsTo } from './graph_view';
import type { Seen } from './look';

function Half(props: {
  seen: Seen;
  name: string;
  prefix: string;
  flip: boolean;
  canLoad: boolean;
  onMore(seen: Seen, node: number): void;
  onHover(seen: Seen, hit: Hit | null): void;
  onFocusNode(seen: Seen, node: number): void;
  onMenu(seen: Seen, node: number, at: Point): void;
  onActive(handle: RefObject<GraphHandle | null>): void;
}) {
  const handle = useRef<GraphHandle | null>(null);
  // By names: nodes have other numbers once more of them have come.
  const [path, setPath] = useState<string[]>([]);
  const zoomed = resolvePath(props.seen.graph.tree, props.seen.labels, path).node;
  const zoomTo = (node: number, more: boolean) => {
    setPath(stepsTo(props.seen, node));
    if (more) props.onMore(props.seen, node);
  };
  return (
    <GraphView
      seen={props.seen}
      name={props.name}
      prefix={props.prefix}
      flip={props.flip}
      zoomed={zoomed}
      question={props.prefix}
      half
      canLoad={props.canLoad}
      handle={handle}
      onHover={props.onHover}
      onFocusNode={props.onFocusNode}
      onZoom={(node) => zoomTo(node, node > 0)}
      onCut={(node) => zoomTo(node, true)}
      onMenu={props.onMenu}
      onActive={props.onActive}
    />
  );
}

export function Sandwich(props: {
  callers: Seen;
  callees: Seen;
  of: string; // the function
  canLoad: boolean;
  onMore(seen: Seen, node: number): void;
  onHover(seen: Seen, hit: Hit | null): void;
  onFocusNode(seen: Seen, node: number): void;
  onMenu(seen: Seen, node: number, at: Point): void;
  onActive(handle: RefObject<GraphHandle | null>): void;
}) {
  const { callers, callees, of, ...rest } = props;
  return (
    <div class="flame-sandwich">
      <div class="flame-side" aria-hidden="true">
        callers
      </div>
      <Half
        key={`callers ${of}`}
        seen={callers}
        name="Callers, from the bottom up"
        prefix="flame-caller"
        flip
        {...rest}
      />
      <div class="flame-side" aria-hidden="true">
        callees
      </div>
      <Half key={`callees ${of}`} seen={callees} name="Callees" prefix="flame-callee" flip={false} {...rest} />
    </div>
  );
}
