import { answerWithin, errorText, type Logger } from '@chainstead/core';
import type { BackendWatch } from './schedule-backend.ts';

interface RedisWatchOptions {
  readonly server: string;
  readonly ping: () => Promise<unknown>;
  readonly logger: Logger;
}

const LOOK_EVERY_MS = 1_000;
const ANSWER_MS = 1_000;
/** After an outage, interrupted commands still fail this long. */
const ECHO_MS = 10_000;

/** Checks every second. Logs one line as an outage begins and one as it ends. */
export function createRedisWatch({ server, ping, logger }: RedisWatchOptions): BackendWatch & { close(): void } {
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
      logger.warn(fields, 'Redis is unavailable: schedules wait, all other work continues');
    }
    if (failure === null && downSince !== null) {
      const seconds = Math.round((now - downSince) / 1_000);
      downSince = null;
      backAt = now;
      logger.info({ server, seconds }, 'Redis is available again');
      for (const listener of listeners) listener();
    }
    return downSince === null;
  }

  function look(): Promise<boolean> {
    looking ??= answerWithin(ANSWER_MS, ping())
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
