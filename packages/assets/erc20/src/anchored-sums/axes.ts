import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { subjectCoverage } from '@chainstead/pages';
import type { SubjectProjection } from '@chainstead/sync/datasets';
import { MOVED_DELTA, movedRows } from '../moved-tables.ts';
import { FORGOTTEN } from '../transfers/anchors.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { erc20WalletTokens } from '../transfers/wallet-tokens.ts';
import { coinCoverage, coverageOfToken } from '../wrapped/dataset.ts';
import { heldToken, isCoinKnownFrom } from './resolved-balances.ts';

/** Sums of transfers and what contracts return are stored by wallet, and by token. */
export interface Axis {
  readonly subject: 'wallet' | 'token';
  readonly key: 'token' | 'account';
  readonly table: 'erc20_wallet_tokens' | 'erc20_holders';
  readonly projection: SubjectProjection;
  /** Subjects per statement. */
  readonly togetherMax: number;
  /** For a stored value that upstreams contradict. */
  readonly doubted: Sql;
  readonly warning: string;
  partsOf(reading: SubjectInSql): AxisParts;
}

export interface SubjectInSql {
  readonly chain: Chain;
  readonly subject: Sql;
  readonly block: Sql;
  /** The first subject. */
  readonly address: Address;
  readonly keys: readonly Address[];
  /** On distributed tables, Citus can't join each key to its rows. */
  readonly isSpread: boolean;
}

/** Fragments of statements from `requested(key)`. A CTE is null where the join needs none. */
interface AxisParts {
  /** CTEs up to `covered`. */
  readonly coverage: readonly Sql[];
  /** The stored row. */
  readonly held: { readonly cte: Sql | null; readonly join: Sql };
  /** The `delta` of movements above the block. */
  readonly above: { readonly cte: Sql | null; readonly join: Sql };
  readonly token: Sql;
  /** Transfers don't determine balances. */
  readonly isLive: Sql;
  /** To append to a condition. */
  isKnownFrom(block: Sql): Sql;
}

export const BY_WALLET: Axis = {
  subject: 'wallet',
  key: 'token',
  table: 'erc20_wallet_tokens',
  projection: erc20WalletTokens,
  togetherMax: 100,
  doubted: sql`anchored_at = NULL`,
  warning: 'Upstreams differ about balances, which are not shown until they agree',
  partsOf({ chain, subject, block, isSpread }) {
    const coverage = { kind: 'wallet', subject, chainId: chain.id, dataset: erc20Transfers.name } as const;
    const wrapped = chain.wrappedNative === null ? null : sql`${addressBytes(chain.wrappedNative)}::bytea`;
    const condition = sql`account_key = address_key(${subject}) AND account = ${subject} AND chain_id = ${chain.id} AND block_number > ${block}`;
    const rows = movedRows(chain, sql`token, direction, value`, condition);
    const above = sql`SELECT token, sum(${MOVED_DELTA}) AS delta FROM ${rows} AS moved GROUP BY token`;
    const held = sql`SELECT own.* FROM erc20_wallet_tokens AS own WHERE own.wallet = ${subject} AND own.chain_id = ${chain.id}`;
    return {
      coverage: [subjectCoverage(coverage), ...(wrapped === null ? [] : [coinCoverage(coverage)])],
      held: isSpread
        ? { cte: sql`held AS MATERIALIZED (${held})`, join: sql`LEFT JOIN held ON held.token = requested.key` }
        : {
            cte: null,
            join: sql`LEFT JOIN LATERAL ${heldToken('requested.key', { wallet: subject, chain, isSpread }, 'held')}`,
          },
      above: aboveByKey(above, 'token', isSpread),
      token: rawSql('requested.key'),
      isLive: sql`false`,
      isKnownFrom: (first) =>
        wrapped === null ? rawSql('') : sql` AND (requested.key <> ${wrapped} OR ${isCoinKnownFrom(first)})`,
    };
  },
};

export const BY_TOKEN: Axis = {
  subject: 'token',
  key: 'account',
  table: 'erc20_holders',
  projection: erc20TokenHolders,
  // Coverage depends on the token.
  togetherMax: 1,
  doubted: FORGOTTEN,
  warning: 'Upstreams differ about what accounts hold of a token, which is not shown until they agree',
  partsOf({ chain, subject, block, address, keys, isSpread }) {
    const coverage = { kind: 'contract', subject, chainId: chain.id, dataset: erc20Transfers.name } as const;
    const ofToken = sql`token_key(token) = token_key(${subject}) AND token = ${subject} AND chain_id = ${chain.id} AND block_number > ${block}`;
    const ofAccount = sql`account_key = address_key(requested.key) AND account = requested.key AND ${ofToken}`;
    const ofAll = sql`account_key = ANY(${keys.map(addressKey)}::bigint[]) AND account = ANY(${keys.map(addressBytes)}::bytea[]) AND ${ofToken}`;
    // With the distribution column, Citus sums where the rows are.
    const columns = isSpread ? sql`account_key, account, direction, value` : sql`account, direction, value`;
    const rows = movedRows(chain, columns, isSpread ? ofAll : ofAccount);
    const delta = sql`sum(${MOVED_DELTA}) AS delta FROM ${rows} AS moved`;
    return {
      coverage: [coverageOfToken(chain, address, coverage)],
      held: {
        cte: null,
        join: sql`JOIN erc20_holders AS held ON held.token = ${subject} AND held.chain_id = ${chain.id} AND held.account = requested.key`,
      },
      above: isSpread
        ? aboveByKey(sql`SELECT account, ${delta} GROUP BY account`, 'account', isSpread)
        : { cte: null, join: sql`CROSS JOIN LATERAL (SELECT ${delta}) AS above` },
      token: subject,
      isLive: address === chain.wrappedNative ? sql`NOT covered.is_counted` : sql`false`,
      isKnownFrom: () => rawSql(''),
    };
  },
};

function aboveByKey(above: Sql, key: Axis['key'], isSpread: boolean): AxisParts['above'] {
  const isOfKey = sql`above.${rawSql(key)} = requested.key`;
  return isSpread
    ? { cte: sql`above AS MATERIALIZED (${above})`, join: sql`LEFT JOIN above ON ${isOfKey}` }
    : { cte: null, join: sql`LEFT JOIN (${above}) AS above ON ${isOfKey}` };
}
