import type { Answer, Head, UpstreamPool } from '@chainstead/rpc';

export interface HeadWait {
  /** Resolves for every caller until `take`. @throws the errors of `waitForHead` */
  after(head: Head | null): Promise<Answer<Head>>;
  take(): void;
  close(): void;
}

export function createHeadWait(pool: Pick<UpstreamPool, 'waitForHead'>, signal: AbortSignal): HeadWait {
  let waiting: { readonly head: Head | null; readonly answer: Promise<Answer<Head>>; end(): void } | null = null;

  function begin(head: Head | null): Promise<Answer<Head>> {
    const ending = new AbortController();
    const answer = pool.waitForHead(head, AbortSignal.any([signal, ending.signal]));
    // Without callers, a failure must not become an unhandled rejection.
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
