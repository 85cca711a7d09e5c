import { expect, it } from 'vitest';
import { expectFinalPrices } from './price-stage.ts';

const TIMEOUT_MS = 1_200_000;

it(
  'serves no final price but the one of the whole chain, at 500 places before, during and after the backfill',
  async () => {
    const { early, unknown, priced } = await expectFinalPrices(1_337_073, 500, 250);
    expect([early > 50, unknown > 100, priced > 300]).toEqual([true, true, true]);
  },
  TIMEOUT_MS,
);
