import type { Chain } from '@chainstead/chains';
import type { Fraction } from '@chainstead/core';
import { joinSql, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { etherQuotes, hasEtherQuotes, readEtherQuote } from './ether-quote.ts';

/** US dollars per ether at each block's end. Missing: no price, or a gap before it. */
export async function readEtherPrices(
  database: ReadDatabase,
  chain: Chain,
  blocks: readonly number[],
): Promise<ReadonlyMap<number, Fraction>> {
  if (blocks.length === 0 || !hasEtherQuotes(chain)) return new Map();
  const quotes = etherQuotes(chain, sql`${chain.id}::bigint`);
  const end = { block: rawSql('wanted.block'), transaction: INT4_MAX, log: INT4_MAX };
  const rows = await database.select<{ block: number; value: string | null; source: number | null }>(
    sql`WITH ${joinSql(quotes.ctes)} SELECT wanted.block, quote.value, quote.source
     FROM unnest(${[...new Set(blocks)]}::bigint[]) AS wanted (block) CROSS JOIN LATERAL ${quotes.at(end)} AS quote`,
  );
  return new Map(
    rows.flatMap(({ block, ...quote }) => {
      const price = readEtherQuote(chain, quote);
      return price === null ? [] : [[block, price] as const];
    }),
  );
}

const INT4_MAX = rawSql(2_147_483_647);
