// Which component shows which view of state/views.ts. What the first page does not need is loaded when it is first looked at.
import type { ComponentType } from 'preact';
import type { View } from '../state/views';
import { ServicesView } from '../views/services/services';

type Loader = () => Promise<ComponentType>;

export const firstView: ComponentType = ServicesView;
export const viewLoaders: Record<Exclude<View, 'services'>, Loader> = {
  explore: () => import('../views/explore/explore').then((module) => module.ExploreView),
  diff: () => import('../views/diff/diff').then((module) => module.DiffView),
  heatmap: () => import('../views/heatmap/heatmap').then((module) => module.HeatmapView),
  source: () => import('../views/source/source').then((module) => module.SourceView),
  targets: () => import('../views/targets/targets').then((module) => module.TargetsView),
};
