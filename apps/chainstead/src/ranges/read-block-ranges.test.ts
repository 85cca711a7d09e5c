import { describe, expect, it } from 'vitest';
import { readBlockRanges } from './range-command.ts';

describe('readBlockRanges', () => {
  it('takes --from and --to, and any number of --range, joined where they touch', () => {
    expect(readBlockRanges({ chain: 'eth', from: '1', to: '9', range: ['10-20', '100..200'] })).toEqual([
      { from: 1, to: 20 },
      { from: 100, to: 200 },
    ]);
  });

  it.each([
    [{}, 'No block range given'],
    [{ from: '1' }, '--to is missing'],
    [{ to: '1' }, '--from is missing'],
    [{ from: '9', to: '1' }, 'below the first'],
    [{ from: '-1', to: '1' }, '--from -1 is not a block number'],
    [{ from: '1e3', to: '1' }, '--from 1e3 is not a block number'],
    [{ from: '1', to: '99999999999999999999' }, 'is not a block number'],
    [{ range: ['5'] }, '--range 5 is not valid'],
  ])('refuses %j', (options, message) => {
    expect(() => readBlockRanges({ chain: 'eth', ...options })).toThrow(message);
  });
});
