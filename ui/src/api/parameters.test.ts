import { describe, expect, it } from 'vitest';
import { defaultState } from '../state/state';
import { comparisonParameters, reportParameters } from './parameters';

const source = { query: 'cpu{}', from: '1000', to: '2000', file: '' };
const region = { ...source, rateMin: '0.5', rateMax: '2' };

describe('parameters of the server', () => {
  it('have the region of a heat map, on each side', () => {
    expect(reportParameters({ ...defaultState, source: region }).toString()).toBe(
      'query=cpu%7B%7D&from=1000&to=2000&rate_min=0.5&rate_max=2',
    );
    const both = comparisonParameters({ ...defaultState, source, baseline: region });
    expect([both.get('rate_min'), both.get('baseline_rate_min'), both.get('baseline_rate_max')]).toEqual([
      null,
      '0.5',
      '2',
    ]);
  });
  it('have times of a file only where a region has them', () => {
    expect(reportParameters({ ...defaultState, source: { ...source, file: 'f' } }).get('from')).toBe(null);
    expect(reportParameters({ ...defaultState, source: { ...region, file: 'f' } }).get('from')).toBe('1000');
  });
});
