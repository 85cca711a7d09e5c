import type { Answer, Head, UpstreamPool } from '@chainstead/rpc';

/** Waits for the next head, for two who may ask at once: who reads blocks already, and who decides what to read. */
export interface HeadWait {
  /** The head that comes after this one. It stays the answer until it is taken. @throws what the pool's `waitForHead` throws */
  after(head: Head | null): Promise<Answer<Head>>;
  /** The next to ask waits anew. */
  take(): void;
  /** Ends what is waited for. */
  close(): void;
}

export function createHeadWait(pool: Pick<UpstreamPool, 'waitForHead'>, signal: AbortSignal): HeadWait {
  let waiting: { readonly head: Head | null; readonly answer: Promise<Answer<Head>>; end(): void } | null = null;

  function begin(head: Head | null): Promise<Answer<Head>> {
    const ending = new AbortController();
    const answer = pool.waitForHead(head, AbortSignal.any([signal, ending.signal]));
    // Nobody may ask for it any more: it must not count as an unhandled rejection then.
    answer.catch(() => undefined);
    waiting = { head, answer, end: () => ending.abort() };
    return answer;
  }

  return {
    after(head) {
      if (waiting?.head === head) return waiting.answer;
      waiting?.end();
      return begin(head);
    },
    take() {
      waiting = null;
    },
    close() {
      waiting?.end();
      waiting = null;
    },
  };
}
