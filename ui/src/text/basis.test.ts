import { describe, expect, it } from 'vitest';
import type { AnswerHeader } from '../api/types';
import { averageOf, countsText, coveredText, instancesText, samplesNote, sideText } from './basis';

const minute = 60e9;
const header: AnswerHeader = {
  type: 'cpu',
  unit: 'nanoseconds',
  total: 16 * minute,
  duration_ns: 24 * minute,
  covered_ns: 8 * minute,
  instances: 3,
  samples: 12_345,
  warnings: [],
  time_ns: 0,
  profile_type: '',
  temporality: 'cumulative',
  from_ns: 0,
  to_ns: 60 * minute,
  profiles: 24,
  services: 1,
};

describe('what an answer rests on', () => {
  it('is the time with data: eight minutes are not diluted by the hour that was asked for', () => {
    expect(averageOf(header)).toBe('2 cores');
    expect(averageOf({ ...header, temporality: 'instant', unit: 'bytes', total: 1024 })).toBe('1 KiB');
    expect(averageOf({ ...header, covered_ns: 0 })).toBeUndefined();
  });
  it('says how much of the range that is, where it is not all', () => {
    expect(coveredText(8 * minute, 60 * minute)).toBe('8 min of data (of 1 h)');
    expect(coveredText(58 * minute, 60 * minute)).toBe('58 min of data');
    expect(coveredText(0, 60 * minute)).toBe('');
  });
  it('says how many ran at once', () => {
    expect(instancesText(1)).toBe('1 instance');
    expect(instancesText(2.97)).toBe('3 instances');
    expect(instancesText(2.5)).toBe('2.5 instances');
    expect(instancesText(0)).toBe('');
    expect(instancesText(null)).toBe('');
  });
  it('counts samples where they are known', () => {
    expect(countsText(header)).toBe('12,345 samples from 24 profiles');
    expect(countsText({ samples: 1, profiles: 1 })).toBe('1 sample from 1 profile');
    expect(countsText({ samples: null, profiles: 2 })).toBe('2 profiles, samples not known');
    expect(samplesNote({ samples: null })).toBe(' · samples not known');
    expect(samplesNote(undefined)).toBe('');
    expect(sideText(header)).toBe('8 min × 3 instances · 12,345 samples from 24 profiles');
    expect(sideText({ ...header, covered_ns: 0, instances: null, samples: null })).toBe(
      '24 profiles, samples not known',
    );
  });
});
