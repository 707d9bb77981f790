// A 2D context that remembers what was painted, for tests in Node.
import type { Context } from '../draw';

export interface Painted {
  kind: 'fill' | 'stroke' | 'text';
  style: unknown;
  x: number;
  y: number;
  width: number;
  height: number;
  text: string;
}

export class Recorder {
  fillStyle: Context['fillStyle'] = '';
  strokeStyle: Context['strokeStyle'] = '';
  lineWidth = 1;
  font = '';
  textBaseline: CanvasTextBaseline = 'alphabetic';
  readonly painted: Painted[] = [];
  fillRect(x: number, y: number, width: number, height: number) {
    this.painted.push({ kind: 'fill', style: this.fillStyle, x, y, width, height, text: '' });
  }
  strokeRect(x: number, y: number, width: number, height: number) {
    this.painted.push({ kind: 'stroke', style: this.strokeStyle, x, y, width, height, text: '' });
  }
  fillText(text: string, x: number, y: number) {
    this.painted.push({ kind: 'text', style: this.fillStyle, x, y, width: 0, height: 0, text });
  }
  beginPath() {}
  moveTo() {}
  lineTo() {}
  closePath() {}
  fill() {}
}
