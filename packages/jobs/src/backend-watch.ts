import { errorText, type Logger } from '@chainstead/core';

/** Whether the queues' home can be reached: looked at all the time, told of when it changes. */
export interface BackendWatch {
  isUp(): boolean;
  /** Whether it can be reached, and could all the time lately: what fails now is no echo of an outage. */
  isSteady(): boolean;
  /** Looks at once, as somebody met a failure. @returns whether it can be reached */
  look(): Promise<boolean>;
  /** Has this called whenever it can be reached again. @returns how to stop that */
  onUp(listener: () => void): () => void;
  close(): void;
}

export interface BackendWatchOptions {
  /** As in a log line: what is away. */
  readonly server: string;
  /** Resolves when the server answers. It may hang. */
  readonly ping: () => Promise<unknown>;
  readonly logger: Logger;
}

const LOOK_EVERY_MS = 1_000;
const ANSWER_MS = 1_000;
/** Commands that an outage interrupted go on failing for so long at most. */
const ECHO_MS = 10_000;

/** One line when an outage begins, one when it ends, however many commands fail meanwhile. */
export function createBackendWatch({ server, ping, logger }: BackendWatchOptions): BackendWatch {
  const listeners = new Set<() => void>();
  let downSince: number | null = null;
  let backAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<boolean> | null = null;
  let isClosed = false;

  function change(failure: unknown): boolean {
    const now = performance.now();
    if (failure !== null && downSince === null && !isClosed) {
      downSince = now;
      const fields = { server, reason: errorText(failure) };
      logger.warn(
        fields,
        'Job queues are away: jobs wait, webhooks go on, what is asked for meanwhile is found by sweeps',
      );
    }
    if (failure === null && downSince !== null) {
      const seconds = Math.round((now - downSince) / 1_000);
      downSince = null;
      backAt = now;
      logger.info({ server, seconds }, 'Job queues are back');
      for (const listener of listeners) listener();
    }
    return downSince === null;
  }

  function look(): Promise<boolean> {
    looking ??= within(ANSWER_MS, ping())
      .then(
        () => change(null),
        (error: unknown) => change(error),
      )
      .finally(() => {
        looking = null;
      });
    return looking;
  }

  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  return {
    isUp: () => downSince === null,
    isSteady: () => downSince === null && performance.now() - backAt > ECHO_MS,
    look,
    onUp(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}

/** For a home that has no outages apart from the program's own database. */
export const ALWAYS_UP: BackendWatch = {
  isUp: () => true,
  isSteady: () => true,
  look: async () => true,
  onUp: () => () => undefined,
  close: () => undefined,
};

/** What the work comes to, or an error when that takes longer; the work itself is not ended. */
export async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  // Whoever asked has been told of the time-out by then.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
