import { Pool } from 'undici';

/** What came of the requests since it was last asked. */
export interface PageWindow {
  /** Milliseconds from the moment at which each was due to the end of its answer. */
  readonly latenciesMs: readonly number[];
  /** Answers that were no 200, by status; requests without an answer as `none`. */
  readonly failures: Readonly<Record<string, number>>;
}

/** Requests at a fixed rate, whether answers come or not: whoever waits in line is late by that, too. */
export interface PageLoad {
  take(): PageWindow;
  stop(): Promise<void>;
}

export interface PageLoadPlan {
  readonly url: string;
  readonly apiKey: string;
  readonly perSecond: number;
  /** The path of the next request, drawn anew each time. */
  path(): string;
}

const CONNECTIONS = 20;
/** Requests that are waited for at most: beyond, the API is gone and not slow. */
const WAITING_MAX = 2_000;
const TIMEOUT_MS = 30_000;

export function startPageLoad({ url, apiKey, perSecond, path }: PageLoadPlan): PageLoad {
  const pool = new Pool(url, { connections: CONNECTIONS, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  let latenciesMs: number[] = [];
  let failures: Record<string, number> = {};
  let waiting = 0;
  let isStopped = false;
  const every = 1_000 / perSecond;
  let dueAt = performance.now();

  const fail = (kind: string): void => {
    failures[kind] = (failures[kind] ?? 0) + 1;
  };
  async function ask(due: number): Promise<void> {
    if (waiting >= WAITING_MAX) return fail('none');
    waiting += 1;
    try {
      const answer = await pool.request({ method: 'GET', path: path(), headers: { 'x-api-key': apiKey } });
      await answer.body.dump();
      if (answer.statusCode !== 200) fail(String(answer.statusCode));
      latenciesMs.push(performance.now() - due);
    } catch (error) {
      // Counted and judged: that the API doesn't answer is a finding, not a fault of the load.
      if (!isStopped) fail(error instanceof Error && 'code' in error ? String(error.code) : 'none');
    } finally {
      waiting -= 1;
    }
  }
  function keepRate(): void {
    if (isStopped) return;
    for (; dueAt <= performance.now(); dueAt += every) void ask(dueAt);
    setTimeout(keepRate, Math.max(0, dueAt - performance.now()));
  }
  if (perSecond > 0) keepRate();
  return {
    take() {
      const window = { latenciesMs, failures };
      latenciesMs = [];
      failures = {};
      return window;
    },
    async stop() {
      isStopped = true;
      await pool.destroy();
    },
  };
}
