import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createWalHistory, formatWalPosition, parseWalPosition } from './wal-position.ts';

test('a standby lags since the primary first wrote what it lacks', () => {
  const history = createWalHistory();
  expect(history.lagOf(0n, 5_000)).toEqual({ ms: 0, bytes: 0 });
  history.add(100n, 1_000);
  history.add(100n, 2_000);
  history.add(150n, 3_000);
  history.add(400n, 4_000);
  expect(history.lagOf(400n, 9_000)).toEqual({ ms: 0, bytes: 0 });
  expect(history.lagOf(399n, 9_000)).toEqual({ ms: 5_000, bytes: 1 });
  expect(history.lagOf(150n, 9_000)).toEqual({ ms: 5_000, bytes: 250 });
  expect(history.lagOf(120n, 9_000)).toEqual({ ms: 6_000, bytes: 280 });
  expect(history.lagOf(99n, 9_000)).toEqual({ ms: 8_000, bytes: 301 });
});

test('where nothing is written nobody lags, however long that is', () => {
  const history = createWalHistory();
  for (let at = 0; at < 10_000_000; at += 100_000) history.add(7n, at);
  expect(history.lagOf(7n, 10_000_000)).toEqual({ ms: 0, bytes: 0 });
});

test('a standby that stands still lags more and more, also beyond what is remembered', () => {
  const history = createWalHistory();
  let last = -1;
  for (let at = 0; at < 2_000_000; at += 1_000) {
    history.add(BigInt(at + 1), at);
    const { ms } = history.lagOf(500n, at);
    expect(ms).toBeGreaterThanOrEqual(Math.min(last, 600_000));
    last = ms;
  }
  expect(last).toBeGreaterThanOrEqual(600_000);
});

test('after a server took over that had less, its log counts', () => {
  const history = createWalHistory();
  history.add(900n, 1_000);
  history.add(500n, 2_000);
  expect(history.lagOf(500n, 3_000)).toEqual({ ms: 0, bytes: 0 });
  expect(history.lagOf(400n, 3_000)).toEqual({ ms: 1_000, bytes: 100 });
});

test('positions are written and read as Postgres has them', () => {
  expect(parseWalPosition('16/B374D848')).toBe(0x16b374d848n);
  expect(formatWalPosition(0x16b374d848n)).toBe('16/B374D848');
  expect(formatWalPosition(0x100000000n)).toBe('1/0');
  expect(() => parseWalPosition('16-B3')).toThrow(RangeError);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (position) => {
      expect(parseWalPosition(formatWalPosition(position))).toBe(position);
    }),
  );
});
