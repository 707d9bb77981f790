// The flame graph of the current state: asks the server, has the worker make a graph of the answer, and asks for more
// where it was cut.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAnswer } from '../api/answer';
import { ApiError, askBytes, call } from '../api/client';
import { columnsType } from '../engine/columns';
import type { Built, Part } from '../engine/job';
import { FlameWorker } from '../engine/worker_client';
import { state } from '../state/store';
import type { FlameData } from './answers';
import { callersQuestion, canExpand, flameQuestion, hasSource, jobOf } from './question';
import { usePaused } from './use_paused';

function makeWorker(): Worker {
  return new Worker(new URL('../engine/worker.ts', import.meta.url), { type: 'module', name: 'flame graph' });
}

function useWorker(): FlameWorker {
  const worker = useRef<FlameWorker | null>(null);
  worker.current ??= new FlameWorker(typeof Worker === 'undefined' ? null : makeWorker);
  useEffect(() => () => worker.current?.stop(), []);
  return worker.current;
}

export function useServerFlame(compare: boolean): FlameData {
  const current = state.value;
  const search = usePaused(current.search, current.matching);
  const worker = useWorker();
  const question = flameQuestion(current, compare, search);
  const ready = hasSource(current) && (!compare || current.baseline !== null);
  const key = ready ? `${question.path}?${question.parameters}` : null;
  const bytes = useAnswer(key, async (signal) => {
    const buffer = await askBytes(question.path, question.parameters, columnsType, signal);
    return new Uint8Array(buffer);
  });
  const side = callersQuestion(current, compare);
  const callers = useAnswer(ready && side ? `${side.path}?${side.parameters}` : null, async (signal) =>
    (await call(side!.path, side!.parameters, { signal, accept: 'application/json' })).text(),
  );

  const [built, setBuilt] = useState<Built | undefined>();
  const [failure, setFailure] = useState<ApiError | undefined>();
  const [building, setBuilding] = useState(false);
  const [parts, setParts] = useState<Part[]>([]);
  const [expanding, setExpanding] = useState(0);
  const sent = useRef<{ base?: Uint8Array; parts: number }>({ parts: 0 });
  const asked = useRef(new Set<string>());
  const controller = useRef<AbortController | null>(null);

  // Another answer: what was grafted on the last one is of no use.
  if (bytes.data && bytes.data !== sent.current.base && parts.length > 0) setParts([]);
  useEffect(() => {
    asked.current = new Set();
    controller.current?.abort();
    controller.current = new AbortController();
  }, [bytes.data]);
  useEffect(() => () => controller.current?.abort(), []);

  const job = jobOf(current, compare, search, callers.data ?? '');
  const jobKey = JSON.stringify({ ...job, callers: '' });
  useEffect(() => {
    if (!bytes.data) return;
    let stale = false;
    const isNew = sent.current.base !== bytes.data;
    const more = isNew ? parts : parts.slice(sent.current.parts);
    sent.current = { base: bytes.data, parts: parts.length };
    setBuilding(true);
    worker
      .build(job, isNew ? bytes.data : undefined, more)
      .then(
        (done) => {
          if (stale) return;
          setBuilt(done);
          setFailure(undefined);
        },
        (error) => {
          if (!stale) setFailure(new ApiError('server', String(error.message ?? error)));
        },
      )
      .finally(() => {
        if (!stale) setBuilding(false);
      });
    return () => {
      stale = true;
    };
  }, [bytes.data, jobKey, callers.data, parts]);

  const expand = (path: string[], nodes = 0) => {
    const name = JSON.stringify([nodes, ...path]);
    const any = JSON.stringify(path);
    // Who asks for no number in particular is content with what comes already.
    if (asked.current.has(name) || (nodes === 0 && asked.current.has(any)) || !bytes.data) return;
    asked.current.add(name).add(any);
    const base = bytes.data;
    const parameters = new URLSearchParams(question.parameters);
    for (const step of path) parameters.append('path', step);
    if (nodes > 0) parameters.set('nodes', String(nodes));
    setExpanding((count) => count + 1);
    askBytes(question.path, parameters, columnsType, controller.current?.signal)
      .then((buffer) => {
        if (sent.current.base === base) setParts((before) => [...before, { path, bytes: new Uint8Array(buffer) }]);
      })
      // What is on screen stays right; the hatched bar can be clicked again.
      .catch(() => {
        asked.current.delete(name);
        asked.current.delete(any);
      })
      .finally(() => setExpanding((count) => count - 1));
  };

  const error = bytes.error ?? failure;
  return {
    built: key === null || (bytes.error && !bytes.data) ? undefined : built,
    error,
    sandwichError: callers.error,
    // Between the answer and the graph there is a moment when neither is on its way.
    loading: bytes.loading || building || (bytes.data !== undefined && !built && !failure),
    slow: bytes.slow,
    expanding: expanding > 0,
    canExpand: canExpand(current, compare),
    expand,
  };
}
