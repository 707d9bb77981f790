// The views and panes of the UI, one row each: addresses, menus, commands, titles and tests come from here. The component
// of a view is in app/views.ts, where a missing one is a type error.

interface ViewRow {
  title: string;
  menu: boolean; // in the bar at the top, and by "Go to …"; others are opened from where they belong
  panes?: boolean; // shows stacks: keys choose how
}

// By the word in links (?view=…). The first is where one starts.
const rows = {
  services: { title: 'Services', menu: true },
  explore: { title: 'Explore', menu: true, panes: true },
  diff: { title: 'Compare', menu: true, panes: true },
  heatmap: { title: 'Heatmap', menu: true },
  source: { title: 'Source', menu: false },
  targets: { title: 'Targets', menu: true },
} satisfies Record<string, ViewRow>;

export type View = keyof typeof rows;
export const views: Readonly<Record<View, ViewRow>> = rows;
export const viewNames = Object.keys(rows) as View[];
export const menuViews = viewNames.filter((view) => views[view].menu);

const paneRows = {
  flame: { title: 'Flame graph', long: 'Flame graph' },
  table: { title: 'Table', long: 'Table' },
  tree: { title: 'Call tree', long: 'Call tree' },
  both: { title: 'Both', long: 'Flame graph and table' },
};

// In the order of their keys: 1, 2, …
export type Pane = keyof typeof paneRows;
export const panes: Readonly<Record<Pane, { title: string; long: string }>> = paneRows;
export const paneNames = Object.keys(paneRows) as Pane[];
