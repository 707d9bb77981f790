// Scenes of synthetic profiles.

import { coloringOf } from '../coloring';
import type { Scene } from '../draw';
import { build, type Graph, type Job } from '../job';
import { Labels, nodeLabel } from '../labels';
import { palettes } from '../palette';
import { wholeView } from '../view';
import { type Synthetic, syntheticColumns } from './synthetic';

export const plainJob: Job = {
  recursion: false,
  byWeight: false,
  inverted: false,
  search: '',
  sandwich: '',
  callers: '',
};

export function graphOf(options: Synthetic, job: Partial<Job> = {}): Graph {
  return build(syntheticColumns(options), [], { ...plainJob, ...job }).main;
}

export function sceneOf(graph: Graph, width = 1200, height = 600): Scene {
  const labels = new Labels(graph.tree);
  const coloring = coloringOf('binary', graph.tree, labels);
  return {
    graph,
    view: wholeView(graph.layout),
    screen: { width, height, row: 20, flip: false },
    palette: palettes.light,
    style: coloring.bucket,
    label: (node) => nodeLabel(graph.tree, labels, node, true),
    matches: null,
    isNew: null,
    inlined: null,
    lost: null,
    font: '12px monospace',
    charWidth: 7,
    ratio: 1,
    forced: false,
    cutHatch: 'cut',
    newHatch: 'new',
  };
}
