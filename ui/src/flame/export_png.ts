// For whoever saves the picture, without loading the flame graph before it is needed.
export { exportPng } from './flame_pane';
