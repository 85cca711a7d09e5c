import { subjectColumns, subjectCoverage, subjectHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Statement, where } from '@chainstead/db';
import { isOfNfts, ofToken } from '../page/by-contract.ts';
import { tokenSubject } from '../token-transfers/token-transfers-statement.ts';
import { erc20TokenCounts } from './token-counts.ts';

/** Up to so many transfers are counted when they are asked for. */
export const COUNT_MAX = 100_000;

/**
 * What is known of the number of a token's transfers. `counted`: by a range of `erc20_transfers_by_contract`, one above the maximum at most;
 * null where `is_built` says that the counter has all, or it was not asked for.
 */
export function tokenStatsStatement(
  chain: Chain,
  token: Address,
  { countMax, isCounted }: { readonly countMax: number; readonly isCounted: boolean },
): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const bytes = `${bind(addressBytes(token))}::bytea`;
  const chainId = bind(chain.id);
  const subject = { ...tokenSubject(bytes, chainId), states: [erc20TokenCounts] };
  const rows = `SELECT 1 FROM erc20_transfers AS transfer ${where([...ofToken(bytes), `chain_id = ${chainId}`])}`;
  const counted = isCounted
    ? `CASE WHEN NOT state.is_built THEN (SELECT count(*) FROM (${rows} LIMIT ${bind(countMax + 1)}) AS counted) END`
    : 'NULL::bigint';
  const text = `WITH ${subjectCoverage(subject)}, state AS MATERIALIZED (
  SELECT ${subjectColumns(subject)} FROM covered LEFT JOIN ${subjectHistory(subject)}
)
SELECT state.*, ${counted} AS counted,
  (SELECT transfers FROM erc20_token_counts WHERE token = ${bytes} AND chain_id = ${chainId}) AS kept,
  (SELECT created_block FROM tokens WHERE address = ${bytes} AND chain_id = ${chainId}) AS created_block,
  ${isOfNfts(bytes, chainId)} AS is_of_nfts
FROM state`;
  return { text, values };
}
