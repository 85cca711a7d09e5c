import { describe, expect, it } from 'vitest';
import { retryCommit } from './commit-retry.ts';

const deadlock = (): Error => Object.assign(new Error('deadlock detected'), { code: '40P01' });

describe('retryCommit', () => {
  it('tells every attempt but the first that one was lost', async () => {
    const told: boolean[] = [];
    const result = await retryCommit(async (hasLost) => {
      told.push(hasLost);
      if (told.length < 4) throw deadlock();
      return 'written';
    });
    expect(result).toBe('written');
    expect(told).toEqual([false, true, true, true]);
  });

  it('gives up in the end, and at once on anything else', async () => {
    let attempts = 0;
    const lose = async (): Promise<never> => {
      attempts++;
      throw deadlock();
    };
    await expect(retryCommit(lose)).rejects.toMatchObject({ code: '40P01' });
    expect(attempts).toBe(8);
    const fail = async (): Promise<never> => {
      attempts++;
      throw new Error('no disk');
    };
    await expect(retryCommit(fail)).rejects.toThrow('no disk');
    expect(attempts).toBe(9);
  });
});
