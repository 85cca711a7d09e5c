/** Prices at ticks, as the tests of Uniswap v3 (TickMath.spec.ts) have them, and against exact powers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_TICK, MIN_TICK, sqrtPriceAtTick } from './read-tick-liquidity.ts';

const Q96 = 1n << 96n;
const someTick = fc.integer({ min: MIN_TICK, max: MAX_TICK });

describe('the root of the price at tick', () => {
  test.each([
    [MIN_TICK, 4_295_128_739n],
    [MIN_TICK + 1, 4_295_343_490n],
    [-50, 79_030_349_367_926_598_376_800_521_322n],
    [0, Q96],
    [50, 79_426_470_787_362_580_746_886_972_461n],
    [5_000, 101_729_702_841_318_637_793_976_746_270n],
    [50_000, 965_075_977_353_221_155_028_623_082_916n],
    [250_000, 21_246_587_762_933_397_357_449_903_968_194_344n],
    [738_203, 847_134_979_253_254_120_489_401_328_389_043_031_315_994_541n],
    [MAX_TICK - 1, 1_461_373_636_630_004_318_706_518_188_784_493_106_690_254_656_249n],
    [MAX_TICK, 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342n],
  ])('%d is the one of the contract', (tick, root) => {
    expect(sqrtPriceAtTick(tick)).toBe(root);
  });

  test.each([MIN_TICK - 1, MAX_TICK + 1, 0.5, Number.NaN])('%d does not exist', (tick) => {
    expect(() => sqrtPriceAtTick(tick)).toThrow(new RangeError(`No pool has tick ${tick}`));
  });

  test('rises with every tick', () => {
    fc.assert(
      fc.property(someTick, (tick) => {
        if (tick < MAX_TICK) expect(sqrtPriceAtTick(tick + 1) > sqrtPriceAtTick(tick)).toBe(true);
      }),
    );
  });

  test('is the exact power to within a billionth, and the inverse of the negative tick', () => {
    fc.assert(
      fc.property(fc.integer({ min: -3_000, max: 3_000 }), (tick) => {
        const [root, steps] = [sqrtPriceAtTick(tick), BigInt(Math.abs(tick))];
        // (root / 2^96)² = 1.0001^tick
        const [up, down] = [10_001n ** steps, 10_000n ** steps];
        const [left, right] =
          tick < 0 ? [root ** 2n * up, Q96 ** 2n * down] : [root ** 2n * down, Q96 ** 2n * up];
        const difference = left > right ? left - right : right - left;
        expect(difference * 1_000_000_000n < right).toBe(true);
        const product = root * sqrtPriceAtTick(-tick);
        expect((product > Q96 ** 2n ? product - Q96 ** 2n : Q96 ** 2n - product) * 10n ** 18n < Q96 ** 2n).toBe(
          true,
        );
      }),
    );
  });
});
