import type { Chain } from '@chainstead/chains';
import type { Fraction } from '@chainstead/core';
import type { Bind, ReadDatabase } from '@chainstead/db';
import { etherQuotes, hasEtherQuotes, readEtherQuote } from './ether-quote.ts';

/**
 * Returns US dollars per ether at the end of each block. A block is missing if no price is at or before it, or if a block since that price is
 * not indexed.
 */
export async function readEtherPrices(
  database: ReadDatabase,
  chain: Chain,
  blocks: readonly number[],
): Promise<ReadonlyMap<number, Fraction>> {
  if (blocks.length === 0 || !hasEtherQuotes(chain)) return new Map();
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const quotes = etherQuotes(chain, `${bind(chain.id)}::bigint`, bind);
  const end = { block: 'wanted.block', transaction: INT4_MAX, log: INT4_MAX };
  const rows = await database.select<{ block: number; value: string | null; source: number | null }>(
    `WITH ${quotes.ctes.join(', ')} SELECT wanted.block, quote.value, quote.source
     FROM unnest(${bind([...new Set(blocks)])}::bigint[]) AS wanted (block) CROSS JOIN LATERAL ${quotes.at(end)} AS quote`,
    values,
  );
  return new Map(
    rows.flatMap(({ block, ...quote }) => {
      const price = readEtherQuote(chain, quote);
      return price === null ? [] : [[block, price] as const];
    }),
  );
}

const INT4_MAX = '2147483647';
