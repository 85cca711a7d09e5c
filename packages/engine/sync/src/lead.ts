import { ChainsteadError, type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import {
  type Database,
  DatabaseError,
  DatabaseUnavailableError,
  failureLevel,
  type Leadership,
  tryAcquireLeadership,
} from '@chainstead/db';
import { forgetLedChain, type SyncMetrics } from './sync-metrics.ts';

interface LeadOptions {
  /** Its key. */
  readonly chain: string;
  readonly lease: string;
  readonly database: Database;
  readonly logger: Logger;
  readonly metrics: SyncMetrics;
  readonly clock: Clock;
  readonly stopCodes: ReadonlySet<string>;
  /** Until everything is covered. @throws for any failure */
  session(leadership: Leadership, signal: AbortSignal): Promise<void>;
  standBy(): void;
  /** @param stop the error, if the chain is stopped until it is resolved */
  saveFailure(database: Database, error: unknown, stop: ChainsteadError | null): Promise<void>;
}

/** `away`: no database, checked as often as a free lease. */
type Outcome = 'complete' | 'failed' | 'stopped' | 'away' | { readonly leader: string };

/** The database itself may have stopped responding. */
const LAST_WORD_MS = 5_000;
const STANDBY_POLL_MS = 1_000;
const RESTART_DELAY_MS = 500;
const RESTART_DELAY_MAX_MS = 15_000;
/** A session this long was healthy: the next delay is short again. */
const LONG_SESSION_MS = 60_000;
const STOPPED_RETRY_MS = 60_000;
const CUT_OFF = 'Ended sessions of the former leader, which fell silent while it held what others wait for';

/** Until the signal aborts or a session completes. Never rejects: reports and retries. */
export async function lead(options: LeadOptions, signal: AbortSignal): Promise<void> {
  const { chain, clock, logger, metrics } = options;
  let leader: string | null = null;
  for (let delay = RESTART_DELAY_MS; !signal.aborted; ) {
    const started = clock.now();
    const outcome = await leadOnce(options, signal);
    const current = typeof outcome === 'object' ? outcome.leader : null;
    if (current !== null) options.standBy();
    if (current !== null && current !== leader) {
      await forgetLedChain(metrics, chain);
      logger.info({ chain, leader: current }, 'Standing by: another process leads the chain');
    }
    leader = current;
    if (outcome === 'complete' || signal.aborted) return;
    delay =
      clock.now() - started > LONG_SESSION_MS ? RESTART_DELAY_MS : Math.min(delay * 2, RESTART_DELAY_MAX_MS);
    const waits = { stopped: STOPPED_RETRY_MS, failed: delay, away: STANDBY_POLL_MS };
    await sleepUnlessAborted(clock, typeof outcome === 'object' ? STANDBY_POLL_MS : waits[outcome], signal);
  }
}

async function leadOnce(options: LeadOptions, signal: AbortSignal): Promise<Outcome> {
  const { chain, logger, metrics } = options;
  let leadership: Leadership | null = null;
  try {
    const candidacy = await tryAcquireLeadership(options.database, options.lease, {
      onCutOff: (sessions) => logger.warn({ chain, sessions }, CUT_OFF),
    });
    metrics.standby.set({ chain }, candidacy.leadership === null ? 1 : 0);
    if (candidacy.leadership === null) return { leader: candidacy.leader };
    leadership = candidacy.leadership;
    metrics.leader.set({ chain }, 1);
    leadership.lost.addEventListener('abort', () => metrics.leader.set({ chain }, 0), { once: true });
    await options.session(leadership, AbortSignal.any([signal, leadership.lost]));
    return 'complete';
  } catch (error) {
    if (signal.aborted) return 'complete';
    // A lost lease makes running work fail with many errors.
    return await reportFailure(options, leadership?.lost.aborted === true ? leadership.lost.reason : error);
  } finally {
    metrics.leader.set({ chain }, 0);
    await endQuietly(logger, () => leadership?.release());
  }
}

async function reportFailure(options: LeadOptions, error: unknown): Promise<Outcome> {
  const { chain, logger } = options;
  const failure = error instanceof ChainsteadError ? error : null;
  const stop = failure !== null && options.stopCodes.has(failure.code) ? failure : null;
  const fields = { chain, error: errorText(error), ...(failure !== null && { code: failure.code }) };
  if (stop !== null) logger.error(fields, 'The chain is stopped until this is resolved');
  else logger[failureLevel(error)](fields, 'Ingestion was interrupted, resuming from the last commit');
  try {
    await options.saveFailure(options.database.until(AbortSignal.timeout(LAST_WORD_MS)), error, stop);
  } catch (databaseError) {
    const facts = { chain, error: errorText(databaseError) };
    logger[failureLevel(databaseError)](facts, 'The reason could not be written to the database');
  }
  if (stop !== null) return 'stopped';
  const isLost = error instanceof DatabaseError && error.code === 'LEADERSHIP_LOST';
  return isLost || error instanceof DatabaseUnavailableError ? 'away' : 'failed';
}

export async function endQuietly(logger: Logger, end: () => Promise<void> | undefined): Promise<void> {
  try {
    await end();
  } catch (error) {
    logger.debug({ error: errorText(error) }, 'Closing failed; the connection is gone anyway');
  }
}
