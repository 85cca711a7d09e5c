import { defineError, errorText, type Logger } from '@chainstead/core';
import { defineApiError } from '@chainstead/http';

/** A 404: no upstream has the state of the requested block, which only archive nodes keep. */
export class StateNotArchivedError extends defineApiError('STATE_NOT_ARCHIVED', (message: string) => ({
  status: 404,
  message,
  details: { status: 'not-archived' },
})) {
  static at(block: number): StateNotArchivedError {
    return new StateNotArchivedError(`Balances at block ${block} need an archive node`);
  }
}

/** A 503: the nodes of the chain could not return the requested state in time. */
export class StateUnavailableError extends defineApiError(
  'STATE_UNAVAILABLE',
  (message: string, cause?: unknown) => ({
    ...{ status: 503, message, cause },
    headers: { 'retry-after': '1' },
    retryable: true,
  }),
) {}

/** A 500: a fault of this program, without its text, which the worker has logged. */
export class StateReadingFailedError extends defineError('STATE_READING_FAILED', (chain: string) => ({
  message: `A worker failed during a state read on ${chain}`,
  facts: { chain },
  remedy: 'Find "State read failed" in the application log of the worker role, and report it',
})) {}

/** For results that responses can do without. Short: a reorg during a read fails too. */
export const SILENCE_MS = 10_000;

/**
 * For results that responses can do without: null, with a log line, if nodes return none in time.
 * @param mayNeedArchive if also null without an archive node
 */
export async function unlessUnavailable<Answer>(
  logger: Logger,
  { message, ...facts }: { readonly message: string; readonly chain: string } & Readonly<Record<string, unknown>>,
  read: Promise<Answer>,
  mayNeedArchive = false,
): Promise<Answer | null> {
  try {
    return await read;
  } catch (error) {
    const isMissing =
      error instanceof StateUnavailableError || (mayNeedArchive && error instanceof StateNotArchivedError);
    if (!isMissing) throw error;
    logger.debug({ ...facts, error: errorText(error) }, message);
    return null;
  }
}
