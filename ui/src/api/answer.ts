// An answer of the server in a component: asks again when the question changes or a live refresh is due, drops what was
// superseded, and keeps the last answer on screen until the next is there.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from './client';
import { refreshCount } from './refresh';

export interface Answer<T> {
  data?: T;
  error?: ApiError;
  loading: boolean;
  slow: boolean; // loading for so long that people should see it
}

const slowAfter = 150;

// `key` is the question as text: equal keys are one question. Null asks nothing.
export function useAnswer<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ loading: key !== null, slow: false });
  const answered = useRef<string | null>(null);
  const live = refreshCount.value;
  // The key stands for all that `ask` closes over.
  useEffect(() => {
    if (key === null) {
      setAnswer({ loading: false, slow: false });
      return;
    }
    const controller = new AbortController();
    setAnswer((before) => ({ ...before, loading: true, slow: false }));
    const timer = setTimeout(() => setAnswer((before) => ({ ...before, slow: before.loading })), slowAfter);
    ask(controller.signal)
      .then(
        (data) => {
          if (controller.signal.aborted) return;
          answered.current = key;
          setAnswer({ data, loading: false, slow: false });
        },
        (error) => {
          if (controller.signal.aborted) return;
          const known = error instanceof ApiError ? error : new ApiError('server', String(error?.message ?? error));
          // A live refresh that fails must not take away what is on screen; the banner says that the server is gone.
          setAnswer((before) => ({
            data: answered.current === key ? before.data : undefined,
            error: known,
            loading: false,
            slow: false,
          }));
        },
      )
      .finally(() => clearTimeout(timer));
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key, live]);
  return answer;
}
