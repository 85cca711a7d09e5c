import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseStandbys, type KnownStandby, type ReadDemand } from './standby-reads.ts';

const LAG_MAX_MS = 10_000;
const WAIT_MAX_MS = 50;

/** Few positions and lags around the limits, so that they coincide. */
const position = fc.bigInt({ min: 0n, max: 6n });
const lagMs = fc.constantFrom(0, WAIT_MAX_MS, WAIT_MAX_MS + 1, LAG_MAX_MS, LAG_MAX_MS + 1);
const standbys = fc.array(fc.record({ replayed: fc.option(position), lagMs }), { maxLength: 5 });
const demand: fc.Arbitrary<ReadDemand> = fc.record({
  floor: position,
  lagMaxMs: fc.constant(LAG_MAX_MS),
  waitMaxMs: fc.constant(WAIT_MAX_MS),
  turn: fc.nat({ max: 20 }),
});

const isFit = ({ replayed, lagMs }: KnownStandby): boolean => replayed !== null && lagMs <= LAG_MAX_MS;

describe('a read', () => {
  test('goes to every standby that answers, lags little and has replayed what was shown, and to no other', () => {
    fc.assert(
      fc.property(standbys, demand, (known, requested) => {
        const { reached } = chooseStandbys(known, requested);
        const fit = known.filter((standby) => isFit(standby) && (standby.replayed ?? -1n) >= requested.floor);
        expect(new Set(reached)).toEqual(new Set(fit));
        expect(reached).toHaveLength(fit.length);
      }),
    );
  });

  test('waits for those alone that may get there in time, the nearest first', () => {
    fc.assert(
      fc.property(standbys, demand, (known, requested) => {
        const { near } = chooseStandbys(known, requested);
        for (const standby of near) {
          expect(isFit(standby) && standby.lagMs <= WAIT_MAX_MS).toBe(true);
          expect((standby.replayed ?? -1n) < requested.floor).toBe(true);
        }
        const positions = near.map(({ replayed }) => Number(replayed));
        expect(positions).toEqual(positions.toSorted((one, other) => other - one));
        const others = known.filter((standby) => !near.includes(standby));
        expect(
          others.some(
            ({ replayed, lagMs: lag }) => replayed !== null && replayed < requested.floor && lag <= WAIT_MAX_MS,
          ),
        ).toBe(false);
      }),
    );
  });

  test('that has to show more finds no standby that it did not find before', () => {
    fc.assert(
      fc.property(standbys, demand, position, (known, requested, more) => {
        const before = new Set(chooseStandbys(known, requested).reached);
        const after = chooseStandbys(known, { ...requested, floor: requested.floor + more }).reached;
        expect(after.every((standby) => before.has(standby))).toBe(true);
      }),
    );
  });

  test('is tried first on each of the fit ones in turn', () => {
    fc.assert(
      fc.property(standbys, demand, (known, requested) => {
        const { reached } = chooseStandbys(known, requested);
        const first = Array.from(reached, (_, turn) => chooseStandbys(known, { ...requested, turn }).reached[0]);
        expect(new Set(first)).toEqual(new Set(reached));
      }),
    );
  });
});
