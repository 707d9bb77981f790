// The state as parameters of the server's routes. Each route refuses what it does not know, so there is a function for
// each group of parameters that openapi.json has.
import type { Source, State } from '../state/state';

function put(parameters: URLSearchParams, name: string, value: string) {
  if (value) parameters.append(name, value);
}

// query, from, to, file; with a prefix those of the baseline. All of a file is meant, but for a region by rate.
export function sourceParameters(source: Source, prefix = '', into = new URLSearchParams()): URLSearchParams {
  put(into, `${prefix}query`, source.query);
  if (source.file) put(into, `${prefix}file`, source.file);
  if (!source.file || source.rateMin || source.rateMax) {
    put(into, `${prefix}from`, source.from);
    put(into, `${prefix}to`, source.to);
  }
  return into;
}

// value_min, value_max, rate_min, rate_max, sample_from, sample_to: a region of a heat map
export function regionParameters(source: Source, prefix: string, into: URLSearchParams): URLSearchParams {
  put(into, `${prefix}value_min`, source.valueMin ?? '');
  put(into, `${prefix}value_max`, source.valueMax ?? '');
  put(into, `${prefix}rate_min`, source.rateMin ?? '');
  put(into, `${prefix}rate_max`, source.rateMax ?? '');
  put(into, `${prefix}sample_from`, source.sampleFrom ?? '');
  put(into, `${prefix}sample_to`, source.sampleTo ?? '');
  return into;
}

// trace_id, span_id, sample_labels
export function sampleParameters(state: State, into: URLSearchParams): URLSearchParams {
  put(into, 'trace_id', state.trace);
  put(into, 'span_id', state.span);
  put(into, 'sample_labels', state.sampleLabels);
  return into;
}

// focus, ignore, hide, show, show_from: each as often as there are steps of it
export function stepParameters(state: State, into: URLSearchParams): URLSearchParams {
  for (const step of state.steps) put(into, step.kind, step.pattern);
  return into;
}

// Over time: what the filters leave, of all of the range. A region of a heat map is a part of the chart, not another one.
export function totalsParameters(state: State): URLSearchParams {
  return stepParameters(state, sampleParameters(state, sourceParameters(state.source)));
}

// What all reports on stacks share.
export function reportParameters(state: State): URLSearchParams {
  const parameters = sourceParameters(state.source);
  regionParameters(state.source, '', parameters);
  sampleParameters(state, parameters);
  stepParameters(state, parameters);
  if (state.group !== 'function') parameters.set('group', state.group);
  return parameters;
}

// The same for a comparison with the baseline.
export function comparisonParameters(state: State): URLSearchParams {
  const parameters = reportParameters(state);
  if (state.baseline) {
    sourceParameters(state.baseline, 'baseline_', parameters);
    regionParameters(state.baseline, 'baseline_', parameters);
  }
  parameters.set('scale', state.scale);
  return parameters;
}
