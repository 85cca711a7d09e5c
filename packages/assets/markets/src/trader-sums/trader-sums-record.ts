import { createHash, randomUUID } from 'node:crypto';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import { priceSettingsOf } from '../pool-candles/price-settings.ts';

export interface TraderSumsKey {
  readonly trader: Address;
  /** All that sums follow from, apart from rows of swaps and prices. Any JSON value. */
  readonly question: unknown;
}

export interface ClaimedTraderSums {
  readonly claim: string;
  readonly sums: unknown;
}

/** Sums that no request used for so long are deleted. */
const UNUSED = sql`interval '2 days'`;

/** Later changes of swaps delete the row, so that they are read without a lock. */
export async function claimTraderSums(
  database: Database,
  chain: Chain,
  key: TraderSumsKey,
  lastBlock: number,
): Promise<ClaimedTraderSums> {
  const claim = randomUUID();
  const { trader, scope } = columnsOf(chain, key);
  return database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    await transaction.query(
      sql`DELETE FROM trader_sums WHERE chain_id = ${chain.id} AND used_at < now() - ${UNUSED}`,
    );
    const [row] = await transaction.query<{ readonly sums: unknown }>(
      sql`INSERT INTO trader_sums AS stored (chain_id, trader, scope, last_block, claim) VALUES (${chain.id}, ${trader}, ${scope}, ${lastBlock}, ${claim})
       ON CONFLICT (trader, chain_id, scope) DO UPDATE SET last_block = greatest(stored.last_block, excluded.last_block), claim = excluded.claim,
         used_at = now()
       RETURNING sums`,
    );
    return { claim, sums: row?.sums ?? null };
  });
}

export async function storeTraderSums(
  database: Database,
  chain: Chain,
  key: TraderSumsKey,
  { claim, sums }: ClaimedTraderSums,
): Promise<void> {
  const { trader, scope } = columnsOf(chain, key);
  await database.query(
    sql`UPDATE trader_sums SET sums = ${JSON.stringify(sums)}::jsonb
     WHERE chain_id = ${chain.id} AND trader = ${trader} AND scope = ${scope} AND claim = ${claim}`,
  );
}

function columnsOf(chain: Chain, { trader, question }: TraderSumsKey) {
  const scope = createHash('sha256').update(JSON.stringify([priceSettingsOf(chain), question]));
  return { trader: addressBytes(trader), scope: scope.digest('hex').slice(0, 32) };
}
