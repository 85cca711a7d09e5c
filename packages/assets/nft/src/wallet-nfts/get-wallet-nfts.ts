import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { readSubject, type SubjectColumns, type SubjectCoverage } from '@chainstead/pages';
import { continueRun, MARK_LENGTH } from '../records/change-pages.ts';
import type { RecordKey } from '../records/nft-record.ts';
import { tokenHash } from '../records/token-hash.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import { type WalletNftsPlace, type WalletNftsQuery, walletNftsStatement } from './wallet-nfts-statement.ts';

export interface WalletNft extends RecordKey {
  readonly owner: Address;
  readonly amount: string;
  readonly lastBlock: number;
  readonly isSum: boolean;
}

export interface WalletNftsPage extends SubjectCoverage {
  readonly tokens: readonly WalletNft[];
  readonly hasNext: boolean;
}

export async function getWalletNfts(
  database: ReadDatabase,
  chain: Chain,
  query: WalletNftsQuery,
): Promise<WalletNftsPage> {
  const rows = await database.select<SubjectColumns & (HoldingColumns | { readonly address: null })>(
    walletNftsStatement(chain, query),
  );
  const holdings = rows.filter((row): row is SubjectColumns & HoldingColumns => row.address !== null);
  return {
    ...readSubject(chain, rows[0]),
    tokens: holdings.slice(0, query.limit).map(({ address, tokenId, amount, lastBlock, isSum }) => ({
      ...{ address, tokenId, owner: query.wallet, amount, lastBlock, isSum },
      blockNumber: changeBlockOf(lastBlock),
    })),
    hasNext: holdings.length > query.limit,
  };
}

type HoldingColumns = Omit<WalletNft, 'owner' | 'blockNumber'>;

export function placeAfter(
  chain: Chain,
  { hasNext, tokens, indexed }: WalletNftsPage,
  before: WalletNftsPlace | null,
): WalletNftsPlace | null {
  const last = tokens.at(-1);
  if (!hasNext || last === undefined) return null;
  const upperBound = before?.upperBound ?? indexed.toBlock ?? 0;
  const rows = tokens.map((token) => ({ block: token.lastBlock, mark: tokenHash(token).slice(0, MARK_LENGTH) }));
  const run = continueRun(chain, before, upperBound, rows);
  return { block: last.lastBlock, address: last.address, tokenId: last.tokenId, run, upperBound };
}
