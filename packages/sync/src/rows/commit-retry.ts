import { defineError } from '@chainstead/core';

/** Maximum attempts of a transaction that fails with a deadlock. */
const ATTEMPTS_MAX = 8;

/** An assumption made before the transaction had the commit lock is false under it. Code `OPTIMISTIC_WRITE_CONFLICT` */
export class OptimisticWriteConflictError extends defineError('OPTIMISTIC_WRITE_CONFLICT', (assumed: string) => ({
  message: `Rows have to be written again: it is no longer true that ${assumed}`,
  facts: { assumed },
  retryable: true,
})) {}

/** Write options of an attempt, derived from earlier failures. */
export interface CommitAttempt {
  /**
   * Takes the commit lock first, because an earlier attempt lost a deadlock or conflict. No other one is then possible.
   */
  readonly lockFirst: boolean;
  /** Writes through staging, because an earlier attempt found existing rows. */
  readonly rowsMayExist: boolean;
}

/**
 * Runs a transaction, and retries it if another attempt can succeed: after a deadlock or an
 * {@link OptimisticWriteConflictError}, after a conflict with existing rows, and after errors that `repair` fixed. Claims
 * separate writers. If two still write the same rows, Postgres may abort the one that waits for the commit lock, once
 * per part that the other writes. The other then proceeds.
 * @param repair fixes the cause of another error. @returns false if it can't
 * @throws the error of the last attempt
 */
export async function retryCommit<T>(
  attempt: (how: CommitAttempt) => Promise<T>,
  repair: (error: unknown) => Promise<boolean> = async () => false,
): Promise<T> {
  let how: CommitAttempt = { lockFirst: false, rowsMayExist: false };
  for (let lost = 0; ; )
    try {
      return await attempt(how);
    } catch (error) {
      if (isDeadlock(error) || error instanceof OptimisticWriteConflictError) {
        lost += 1;
        if (lost === ATTEMPTS_MAX) throw error;
        how = { ...how, lockFirst: true };
      } else if (isUniqueViolation(error) && !how.rowsMayExist) how = { ...how, rowsMayExist: true };
      else if (!(await repair(error))) throw error;
    }
}

function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505';
}

function isDeadlock(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '40P01';
}
