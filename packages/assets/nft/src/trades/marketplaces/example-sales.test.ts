import { describe, expect, test } from 'vitest';
import { marketplaces } from '../marketplaces.ts';
import { decodeExample, tradesOf } from '../testing/example-trades.ts';
import { chainOf, EXAMPLE_SALES } from './testing/example-sales.ts';

/** seaport.test.ts (whose forks emit the same), wyvern.test.ts, blur.test.ts. */
const TESTED_BESIDE = [/^seaport-/, /^(?:alienswap|okx|quix)$/, /^wyvern-/, /^blur-/];

describe('sales', () => {
  test.each(EXAMPLE_SALES)('$protocol: $what', (sale) => {
    const rows = decodeExample(sale.logs, chainOf(sale));
    expect(tradesOf(rows).map(({ logIndex: _, ...facts }) => facts)).toEqual(sale.trades);
    expect(new Set(rows.map((row) => row.protocol))).toEqual(new Set([sale.protocol]));
  });

  test('every event of every marketplace has one, but for those of the files beside', () => {
    const shown = new Set(
      EXAMPLE_SALES.flatMap(({ protocol, logs }) => logs.map((log) => `${protocol} ${log.topics[0]}`)),
    );
    const missing = marketplaces
      .filter(({ protocol }) => !TESTED_BESIDE.some((tested) => tested.test(protocol)))
      .flatMap(({ protocol, topics }) =>
        topics.map((topic) => `${protocol} ${topic}`).filter((event) => !shown.has(event)),
      );
    expect(missing).toEqual([]);
  });
});
