import { type Indexed, readSubject, type SubjectColumns } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { KeptSubjects } from '@chainstead/sync';
import { erc20Transfers } from '../dataset.ts';
import { erc20TokenCounts } from './token-counts.ts';
import { COUNT_MAX, tokenStatsStatement } from './token-stats-statement.ts';

export interface TokenStats {
  /** Transfers that are indexed; so many at least, where `indexed` is not complete. */
  readonly transfers: number;
  readonly indexed: Indexed;
}

export interface TokenStatsOptions {
  readonly kept: KeptSubjects;
  /** How long the counting of a token with very many transfers is waited for. Milliseconds. */
  readonly waitMs: number;
  /** Up to so many transfers are counted each time. Default {@link COUNT_MAX}. */
  readonly countMax?: number;
}

/**
 * How many transfers of a token are indexed. Up to 100,000 are counted each time that they are asked for. Of a token with more, a counter is
 * kept from then on; until it has counted all, the answer is what it came to and not complete.
 */
export async function getTokenStats(
  database: Database,
  chain: Chain,
  token: Address,
  { kept, waitMs, countMax = COUNT_MAX }: TokenStatsOptions,
): Promise<TokenStats> {
  const read = async (isCounted: boolean): Promise<Row> => {
    const { text, values } = tokenStatsStatement(chain, token, { countMax, isCounted });
    const [row] = await database.query<Row>(text, values);
    if (row === undefined) throw new RangeError('The statement gives one row');
    return row;
  };
  const first = await read(true);
  const show = (row: Row, transfers: number, isExact: boolean): TokenStats => {
    const { indexed, isCovered } = readSubject(chain, row, row.created_block ?? chain.firstBlock);
    return { transfers: row.is_of_nfts ? 0 : transfers, indexed: { ...indexed, complete: isCovered && isExact } };
  };
  if (first.is_built) return show(first, first.kept ?? 0, true);
  const counted = first.counted ?? 0;
  if (counted <= countMax || first.is_of_nfts) return show(first, counted, true);
  await kept.keep(chain, { dataset: erc20Transfers, state: erc20TokenCounts }, token, waitMs);
  const row = await read(false);
  return show(row, row.is_built ? (row.kept ?? 0) : Math.max(counted, row.kept ?? 0), row.is_built);
}

interface Row extends SubjectColumns {
  readonly counted: number | null;
  readonly kept: number | null;
  readonly created_block: number | null;
  readonly is_of_nfts: boolean;
}
