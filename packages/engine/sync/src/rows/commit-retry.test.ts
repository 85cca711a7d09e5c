import { describe, expect, it } from 'vitest';
import { type CommitAttempt, retryCommit } from './commit-retry.ts';

const failure = (code: string): Error => Object.assign(new Error('the database refused'), { code });
const DEADLOCK = '40P01';
const UNIQUE_VIOLATION = '23505';

/** Fails with each code in turn, and records the options of each attempt. */
function failing(...codes: readonly string[]) {
  const attempts: CommitAttempt[] = [];
  const attempt = async (how: CommitAttempt): Promise<string> => {
    const code = codes[attempts.length];
    attempts.push(how);
    if (code !== undefined) throw failure(code);
    return 'written';
  };
  return { attempts, attempt };
}

describe('retryCommit', () => {
  it('takes the lock first after a deadlock, and writes through staging after rows that were there', async () => {
    const { attempts, attempt } = failing(DEADLOCK, UNIQUE_VIOLATION, DEADLOCK);
    expect(await retryCommit(attempt)).toBe('written');
    expect(attempts).toEqual([
      { lockFirst: false, rowsMayExist: false },
      { lockFirst: true, rowsMayExist: false },
      { lockFirst: true, rowsMayExist: true },
      { lockFirst: true, rowsMayExist: true },
    ]);
  });

  it('gives up after eight deadlocks, after rows that are there once more, and at once on anything else', async () => {
    const deadlocks = failing(...Array.from({ length: 20 }, () => DEADLOCK));
    await expect(retryCommit(deadlocks.attempt)).rejects.toMatchObject({ code: DEADLOCK });
    expect(deadlocks.attempts).toHaveLength(8);
    const duplicates = failing(UNIQUE_VIOLATION, UNIQUE_VIOLATION);
    await expect(retryCommit(duplicates.attempt)).rejects.toMatchObject({ code: UNIQUE_VIOLATION });
    expect(duplicates.attempts).toHaveLength(2);
    const full = failing('53100');
    await expect(retryCommit(full.attempt)).rejects.toMatchObject({ code: '53100' });
    expect(full.attempts).toHaveLength(1);
  });

  it('writes in the same way again what was mended', async () => {
    const { attempts, attempt } = failing('23514', '23514');
    const mended: unknown[] = [];
    const mend = async (error: unknown): Promise<boolean> => {
      mended.push(error);
      return mended.length < 2;
    };
    await expect(retryCommit(attempt, mend)).rejects.toMatchObject({ code: '23514' });
    expect(mended).toHaveLength(2);
    expect(attempts).toEqual([
      { lockFirst: false, rowsMayExist: false },
      { lockFirst: false, rowsMayExist: false },
    ]);
  });
});
