import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  readSubject,
  type SubjectColumns,
  type SubjectCoverage,
  subjectColumnsOld,
  subjectHistoryOld,
} from '@chainstead/data-api';
import { addressBytes, type Database, plainText, type ReadDatabase, rawSql } from '@chainstead/db';
import { recentAnswerOld as recentAnswer } from '@chainstead/node-reads';
import { isAskNoted } from '@chainstead/sync';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { coverageOfToken } from '../wrapped/coin-coverage.ts';
import { HOLDERS_COUNTED, type HolderCounts } from './holder-questions.ts';

/** Cache time of the counts. Milliseconds. */
export const COUNTED_MS = 300_000;

/** The known data about a token's holders at one moment. */
export interface KnownHolders extends SubjectCoverage {
  /** Whether a recent request for the token is recorded. */
  readonly isAskNoted: boolean;
  /** Decimals of the token; 0: unknown. */
  readonly decimals: number;
  /** Counts that are a few minutes old at most; null: must be counted. */
  readonly counts: HolderCounts | null;
}

export async function getKnownHolders(database: Database, chain: Chain, token: Address): Promise<KnownHolders> {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const [subject, chainId] = [bind(addressBytes(token)), bind(chain.id)];
  const of = { kind: 'contract', subject, chainId, dataset: erc20Transfers.name, states: [erc20TokenHolders] } as const;
  const counted = recentAnswer(HOLDERS_COUNTED, { token }, { chainId, maxAgeMs: COUNTED_MS }, bind);
  const [row] = await database.query<
    SubjectColumns & { is_ask_noted: boolean; first_block: number; decimals: number; counted: unknown }
  >(
    `WITH ${coverageOfToken(chain, token, of)} SELECT ${subjectColumnsOld(of)}, ${plainText(isAskNoted(rawSql(chainId), rawSql(subject), erc20TokenHolders))} AS is_ask_noted,
  coalesce((SELECT created_block FROM tokens WHERE address = ${subject} AND chain_id = ${chainId}), ${bind(chain.firstBlock)}::bigint) AS first_block,
  coalesce((SELECT decimals FROM tokens WHERE address = ${subject} AND chain_id = ${chainId}), 0) AS decimals,
  ${counted.sql} AS counted
FROM covered LEFT JOIN ${subjectHistoryOld(of)}`,
    values,
  );
  return {
    ...readSubject(chain, row, row?.first_block),
    isAskNoted: row?.is_ask_noted ?? false,
    decimals: row?.decimals ?? 0,
    counts: counted.read(row?.counted ?? null),
  };
}

/** Returns the numbers of holders of tokens that were counted within the last minutes. Others are missing. */
export async function readCountedHolders(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
): Promise<ReadonlyMap<Address, number>> {
  if (tokens.length === 0) return new Map();
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const chainId = `${bind(chain.id)}::bigint`;
  const counted = tokens.map((token) =>
    recentAnswer(HOLDERS_COUNTED, { token }, { chainId, maxAgeMs: COUNTED_MS }, bind),
  );
  const [row] = await database.select<{ counted: readonly unknown[] }>(
    `SELECT json_build_array(${counted.map(({ sql }) => sql).join(', ')}) AS counted`,
    values,
  );
  const found = counted.map(({ read }, position) => read(row?.counted[position] ?? null));
  return new Map(
    tokens.flatMap((token, position) => {
      const counts = found[position];
      return counts?.isSound === true ? [[token, counts.holders] as const] : [];
    }),
  );
}
