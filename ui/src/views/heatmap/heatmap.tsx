export function HeatmapView() {
  return <h1>Heatmap</h1>;
}
