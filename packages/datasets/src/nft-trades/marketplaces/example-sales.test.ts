import { describe, expect, test } from 'vitest';
import { marketplaces } from '../marketplaces.ts';
import { decodeExample, tradesOf } from '../testing/example-trades.ts';
import { chainOf, EXAMPLE_SALES } from './testing/example-sales.ts';

describe('sales', () => {
  test.each(EXAMPLE_SALES)('$protocol: $what', (sale) => {
    const rows = decodeExample(sale.logs, chainOf(sale));
    expect(tradesOf(rows).map(({ logIndex: _, ...facts }) => facts)).toEqual(sale.trades);
    expect(new Set(rows.map((row) => row.protocol))).toEqual(new Set([sale.protocol]));
  });

  test('every event of these marketplaces has one', () => {
    const protocols = new Set(EXAMPLE_SALES.map((sale) => sale.protocol).filter((name) => name !== 'blur-v2'));
    const shown = new Set(EXAMPLE_SALES.flatMap((sale) => sale.logs.map((log) => log.topics[0])));
    const missing = marketplaces
      .filter((marketplace) => protocols.has(marketplace.protocol))
      .flatMap(({ protocol, topics }) => topics.filter((topic) => !shown.has(topic)).map((topic) => [protocol, topic]));
    expect(missing).toEqual([]);
  });
});
