import { ChainsteadError } from '@chainstead/core';

/** Attempts at a transaction that Postgres ended because it and another waited for each other. */
const ATTEMPTS_MAX = 8;

/** What a transaction took for granted before it had the commit lock is not so under it. Code `ASSUMED_WRONGLY` */
export class AssumedWronglyError extends ChainsteadError {
  constructor(assumed: string) {
    super({
      code: 'ASSUMED_WRONGLY',
      message: `While rows were written it was no longer so that ${assumed}; they are written again`,
      facts: { assumed },
      retryable: true,
    });
  }
}

/**
 * Runs a transaction once more where it lost a deadlock, or threw {@link AssumedWronglyError}. Claims keep writers apart; where
 * two meet at the same rows all the same, one with the commit lock and one on its way to it, Postgres may end any that waits
 * for the lock, once for each part of what the other writes. The others have gone on by then.
 * @param attempt told whether it lost one before: then it takes the commit lock before anything else, and meets nobody half way
 */
export async function retryCommit<T>(attempt: (hasLost: boolean) => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++)
    try {
      return await attempt(attempts > 1);
    } catch (error) {
      if (attempts === ATTEMPTS_MAX || !(isDeadlock(error) || error instanceof AssumedWronglyError)) throw error;
    }
}

/** Rows were there already. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505';
}

function isDeadlock(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '40P01';
}
