import { errorText, type Logger } from '@chainstead/core';
import { StateNotArchivedError, StateUnavailableError } from './state-error.ts';

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
