import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import type { Html } from './layout/html.ts';

export interface WarmUpOptions {
  /** Reads and makes the page that most people see first. */
  readonly firstPage: () => Promise<Html>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A start waits no longer for it. Milliseconds. */
const WAIT_MS = 3_000;
/** Code that has run a few times runs faster. */
const TIMES = 5;

/**
 * Does once what the first page of a process would wait for: routes are put in order, connections opened, statements planned, code compiled.
 * What fails here fails no start.
 */
export async function warmUp(api: Pick<ApiApp, 'router'>, { firstPage, clock, logger }: WarmUpOptions): Promise<void> {
  const ended = new AbortController();
  await Promise.race([work(), sleepUnlessAborted(clock, WAIT_MS, ended.signal)]);
  ended.abort();

  async function work(): Promise<void> {
    try {
      api.router.match('GET', '/console');
      for (let time = 0; time < TIMES; time++) await firstPage();
    } catch (error) {
      const message = 'The console could not be warmed up: its first page takes longer';
      logger[failureLevel(error)]({ error: errorText(error) }, message);
    }
  }
}
