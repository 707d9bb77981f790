// The thread beside the page: keeps the bytes of what is shown, which are small, and makes trees of them.
import { build, builtBuffers, type Job, type Part } from './job';

export interface Request {
  id: number;
  base?: Uint8Array; // new bytes; without them those of the last request
  parts: Part[]; // new ones, in addition to those before
  job: Job;
}

let base: Uint8Array | null = null;
let parts: Part[] = [];

// The lib of the page has no type for this side.
const scope = self as unknown as {
  onmessage: (event: MessageEvent<Request>) => void;
  postMessage(message: unknown, transfer: Transferable[]): void;
};

scope.onmessage = ({ data }) => {
  if (data.base) {
    base = data.base;
    parts = [];
  }
  parts.push(...data.parts);
  try {
    const built = build(base!, parts, data.job);
    scope.postMessage({ id: data.id, built }, builtBuffers(built));
  } catch (error) {
    scope.postMessage({ id: data.id, error: error instanceof Error ? error.message : String(error) }, []);
  }
};
