// The page's side of the worker. Where there is no worker (tests, a browser that refuses it) the work is done at once.
import { ColumnsError } from './columns';
import { type Built, build, type Job, type Part } from './job';
import type { Request } from './worker';

type Waiting = { resolve(built: Built): void; reject(error: Error): void };

export class FlameWorker {
  constructor(private readonly make: (() => Worker) | null = null) {}

  private worker: Worker | null = null;
  private failed = false;
  private next = 0;
  private readonly waiting = new Map<number, Waiting>();
  private base: Uint8Array | null = null;
  private parts: Part[] = [];

  // With `base` a new graph begins; `parts` are added to what the graph has. Both are gone afterwards.
  build(job: Job, base?: Uint8Array, parts: Part[] = []): Promise<Built> {
    const worker = this.start();
    if (!worker) {
      if (base) this.parts = [];
      this.base = base ?? this.base;
      this.parts.push(...parts);
      try {
        return Promise.resolve(build(this.base!, this.parts, job));
      } catch (error) {
        return Promise.reject(error);
      }
    }
    const request: Request = { id: this.next++, base, parts, job };
    return new Promise((resolve, reject) => {
      this.waiting.set(request.id, { resolve, reject });
      // The bytes move there: the page has no use for them.
      worker.postMessage(
        request,
        [base, ...parts.map((part) => part.bytes)].flatMap((bytes) => bytes?.buffer ?? []),
      );
    });
  }

  stop() {
    this.worker?.terminate();
    this.worker = null;
    for (const { reject } of this.waiting.values()) reject(new ColumnsError('the flame graph was closed'));
    this.waiting.clear();
  }

  private start(): Worker | null {
    if (this.worker || this.failed || !this.make) return this.worker;
    this.worker = this.make();
    this.worker.onmessage = ({ data }) => {
      const waiting = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.built) waiting?.resolve(data.built);
      else waiting?.reject(new ColumnsError(data.error));
    };
    this.worker.onerror = () => {
      this.failed = true;
      this.stop();
    };
    return this.worker;
  }
}
