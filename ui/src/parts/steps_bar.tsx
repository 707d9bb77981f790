// The steps that change which stacks and frames are seen, in the order in which they were made: each can be taken back.
// The same for all views, as the steps are.
import type { Step, StepKind } from '../state/state';
import { go, removeStep, state } from '../state/store';
import { clippedText, visibleText } from '../text/safe';
import { exactText } from './frame_menu';
import './steps_bar.css';

const words: Record<StepKind, string> = {
  focus: 'only through',
  ignore: 'not through',
  hide: 'hide',
  show: 'only frames',
  show_from: 'from',
};

export function stepText(step: Step): string {
  const name = presets.find((preset) => preset.step.kind === step.kind && preset.step.pattern === step.pattern);
  if (name) return name.title.toLowerCase();
  const exact = exactText(step.pattern);
  return `${words[step.kind]} ${exact ?? `/${step.pattern}/`}`;
}

export interface Preset {
  title: string;
  step: Step;
}

// Patterns are looked for in function, file and binary.
export const presets: readonly Preset[] = [
  { title: 'Hide kernel', step: { kind: 'hide', pattern: '^\\[kernel|^\\[guest\\.kernel|/vmlinux|\\.ko$' } },
  {
    title: 'Hide libc',
    step: {
      kind: 'hide',
      pattern: '(^|/)(libc|libm|libpthread|libdl|librt|ld-linux[^/]*|ld-musl[^/]*)([-.][^/]*)?\\.so',
    },
  },
  {
    title: 'Only my code',
    step: {
      kind: 'hide',
      pattern:
        '^\\[|/vmlinux|^(/usr)?/lib(32|64)?/|^runtime[./]|/go/src/|^(std|core|alloc)::|^(java|javax|jdk|sun)[./]|/site-packages/|/lib/python|/node_modules/|^node:',
    },
  },
];

export function togglePreset({ step }: Preset) {
  const { steps } = state.value;
  const without = steps.filter((other) => other.kind !== step.kind || other.pattern !== step.pattern);
  go({ steps: without.length < steps.length ? without : [...steps, step], zoom: [] });
}

export function hasPreset({ step }: Preset): boolean {
  return state.value.steps.some((other) => other.kind === step.kind && other.pattern === step.pattern);
}

export function StepsBar() {
  const { steps } = state.value;
  if (steps.length === 0) return null;
  return (
    <nav class="steps-bar" aria-label="Steps">
      <ol>
        {steps.map((step, i) => {
          const text = stepText(step);
          return (
            <li key={`${i} ${step.kind} ${step.pattern}`} title={visibleText(`${step.kind} ${step.pattern}`)}>
              <span>{clippedText(text, 60)}</span>
              <button type="button" aria-label={`Remove: ${clippedText(text, 60)}`} onClick={() => removeStep(i)}>
                ×
              </button>
            </li>
          );
        })}
      </ol>
      <button type="button" class="quiet" onClick={() => removeStep(steps.length - 1)}>
        Undo step
      </button>
      {steps.length > 1 && (
        <button type="button" class="quiet" onClick={() => go({ steps: [], zoom: [] })}>
          Remove all
        </button>
      )}
    </nav>
  );
}
