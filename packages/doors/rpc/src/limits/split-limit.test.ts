import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Demand, splitLimit } from './limiters.ts';

const demand = (group: string, wanted: number): Demand => ({ group, wanted });

describe('splitLimit', () => {
  test.each<[string, number, Demand[], number[]]>([
    ['gives a lone process everything', 8, [demand('api', 1)], [8]],
    ['gives a busy process all but one unit of each idle one', 20, [demand('a', 0), demand('b', 50)], [1, 19]],
    ['divides equally by group', 12, [demand('api', 9), demand('api', 9), demand('ingest', 9)], [3, 3, 6]],
    ['gives a process without use for its part to the others', 12, [demand('a', 2), demand('b', 9)], [3, 9]],
    [
      'gives nothing to idle processes if units are few',
      2,
      [demand('a', 0), demand('b', 0), demand('c', 5)],
      [0, 0, 2],
    ],
    [
      'prefers earlier processes if units are few',
      2,
      [demand('a', 3), demand('a', 3), demand('b', 3)],
      [1, 1, 0],
    ],
  ])('%s', (_, units, demands, expected) => {
    expect(splitLimit(units, demands)).toEqual(expected);
  });

  test('hands out the whole limit, starves nobody, and gives nobody more while another with less wants more', () => {
    const demands = fc.array(
      fc.record({ group: fc.constantFrom('api', 'ingest', 'worker'), wanted: fc.nat(60) }),
      {
        minLength: 1,
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(demands, fc.integer({ min: 1, max: 200 }), (given, units) => {
        const shares = splitLimit(units, given);
        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(units);
        if (units >= given.length) expect(Math.min(...shares)).toBeGreaterThanOrEqual(1);
        const weighed = (place: number, share: number): number =>
          share * given.filter(({ group, wanted }) => group === given[place]?.group && wanted > 0).length;
        for (const [poor, { wanted }] of given.entries()) {
          const share = shares[poor] ?? 0;
          if (share >= wanted) continue;
          for (const [rich, { wanted: richWanted }] of given.entries()) {
            const more = shares[rich] ?? 0;
            if (more <= 1) continue;
            expect(more).toBeLessThanOrEqual(richWanted);
            expect(weighed(rich, more)).toBeLessThanOrEqual(weighed(poor, share + 1));
          }
        }
      }),
    );
  });
});
