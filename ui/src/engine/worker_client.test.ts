import { describe, expect, it } from 'vitest';
import { encodeColumns } from './testing/encode';
import { plainJob } from './testing/scenes';
import { FlameWorker } from './worker_client';

const whole = encodeColumns(
  {},
  [{ name: '' }, { name: 'f' }],
  [
    { parent: -1, name: 0, self: 0 },
    { parent: 0, name: 1, self: 2, cut: 3, cutNodes: 1 },
  ],
);
const part = encodeColumns(
  {},
  [{ name: 'f' }, { name: 'g' }],
  [
    { parent: -1, name: 0, self: 2 },
    { parent: 0, name: 1, self: 3 },
  ],
);

describe('where there is no worker', () => {
  it('graphs are made all the same, with what was asked for later', async () => {
    const worker = new FlameWorker();
    expect((await worker.build(plainJob, whole)).main.tree.count).toBe(2);
    expect((await worker.build(plainJob, undefined, [{ path: ['f'], bytes: part }])).main.tree.count).toBe(3);
    // Another job on the same bytes keeps the part, other bytes do not.
    expect((await worker.build({ ...plainJob, byWeight: true })).main.tree.count).toBe(3);
    expect((await worker.build(plainJob, whole)).main.tree.count).toBe(2);
  });

  it('bytes that are no graph are an error, not a crash', async () => {
    await expect(new FlameWorker().build(plainJob, new Uint8Array([1, 2, 3]))).rejects.toThrow(/cannot be read/);
  });
});
