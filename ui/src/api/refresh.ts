// Live refresh: a number that grows whenever everything on screen should be asked again.
import { effect, signal } from '@preact/signals';
import { state } from '../state/store';
import { online } from './client';

export const refreshCount = signal(0);
export const paused = signal(false);

export function refreshNow() {
  refreshCount.value++;
}

const retrySeconds = 5;

// A server that is gone is tried again by itself, live or not; a tab in the background asks nothing.
export function startRefreshing() {
  effect(() => {
    const wanted = paused.value ? 0 : state.value.refresh;
    const seconds = online.value ? wanted : Math.min(wanted || retrySeconds, retrySeconds);
    if (!seconds) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') refreshNow();
    }, seconds * 1000);
    return () => clearInterval(timer);
  });
}
