// One function with its callers above and its callees below, as two flame graphs that meet in it.
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Point } from './flame_canvas';
import { type GraphHandle, GraphView } from './graph_view';
import type { Hit } from './hit';
import type { Seen } from './look';

function Half(props: {
  seen: Seen;
  name: string;
  prefix: string;
  flip: boolean;
  onHover(seen: Seen, hit: Hit | null): void;
  onFocusNode(seen: Seen, node: number): void;
  onMenu(seen: Seen, node: number, at: Point): void;
  onActive(handle: RefObject<GraphHandle | null>): void;
}) {
  const handle = useRef<GraphHandle | null>(null);
  const [zoomed, setZoomed] = useState(0);
  useEffect(() => setZoomed(0), [props.seen.graph]);
  return (
    <GraphView
      seen={props.seen}
      name={props.name}
      prefix={props.prefix}
      flip={props.flip}
      zoomed={zoomed < props.seen.graph.tree.count ? zoomed : 0}
      question={props.prefix}
      half
      canLoad={false}
      handle={handle}
      onHover={props.onHover}
      onFocusNode={props.onFocusNode}
      onZoom={setZoomed}
      onCut={setZoomed}
      onMenu={props.onMenu}
      onActive={props.onActive}
    />
  );
}

export function Sandwich(props: {
  callers: Seen;
  callees: Seen;
  onHover(seen: Seen, hit: Hit | null): void;
  onFocusNode(seen: Seen, node: number): void;
  onMenu(seen: Seen, node: number, at: Point): void;
  onActive(handle: RefObject<GraphHandle | null>): void;
}) {
  const { callers, callees, ...rest } = props;
  return (
    <div class="flame-sandwich">
      <div class="flame-side" aria-hidden="true">
        callers
      </div>
      <Half seen={callers} name="Callers, from the bottom up" prefix="flame-caller" flip {...rest} />
      <div class="flame-side" aria-hidden="true">
        callees
      </div>
      <Half seen={callees} name="Callees" prefix="flame-callee" flip={false} {...rest} />
    </div>
  );
}
