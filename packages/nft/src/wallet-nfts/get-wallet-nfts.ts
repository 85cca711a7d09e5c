import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { readSubject, type SubjectColumns, type SubjectCoverage } from '@chainstead/data-api';
import type { ReadDatabase } from '@chainstead/db';
import { continueRun, MARK_LENGTH } from '../records/change-pages.ts';
import type { RecordKey } from '../records/nft-record.ts';
import { tokenHash } from '../records/token-hash.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import { type WalletNftsPlace, type WalletNftsQuery, walletNftsStatement } from './wallet-nfts-statement.ts';

/** A wallet's holding of one token. */
export interface WalletNft extends RecordKey {
  readonly owner: Address;
  readonly amount: string;
  /** Its position among the wallet's tokens: `blockNumber`, or the placeholder for none. */
  readonly lastBlock: number;
  /** Whether the amount is a sum of transfers: it is correct only with the wallet's whole history. */
  readonly isSum: boolean;
}

/** A page of tokens, with the coverage of the wallet's history. */
export interface WalletNftsPage extends SubjectCoverage {
  /** Newest change first; at most `query.limit`. */
  readonly tokens: readonly WalletNft[];
  readonly hasNext: boolean;
}

/** Returns a page of a wallet's tokens, with its completeness, in one statement. */
export async function getWalletNfts(
  database: ReadDatabase,
  chain: Chain,
  query: WalletNftsQuery,
): Promise<WalletNftsPage> {
  const rows = await database.select<PageRow>(walletNftsStatement(chain, query));
  const found = rows.filter((row): row is SubjectColumns & TokenColumns => row.token_address !== null);
  return {
    ...readSubject(chain, rows[0]),
    tokens: found.slice(0, query.limit).map((row) => ({
      address: row.token_address,
      tokenId: row.token_id,
      owner: query.wallet,
      amount: row.amount,
      blockNumber: changeBlockOf(row.last_block),
      lastBlock: row.last_block,
      isSum: row.is_sum,
    })),
    hasNext: found.length > query.limit,
  };
}

/** Returns the start of the next page; null after the last. */
export function placeAfter(
  chain: Chain,
  { hasNext, tokens, indexed }: WalletNftsPage,
  before: WalletNftsPlace | null,
): WalletNftsPlace | null {
  const last = tokens.at(-1);
  if (!hasNext || last === undefined) return null;
  const upperBound = before?.upperBound ?? indexed.toBlock ?? 0;
  const rows = tokens.map((token) => ({
    block: token.lastBlock,
    mark: tokenHash(token).slice(0, MARK_LENGTH),
  }));
  const run = continueRun(chain, before, upperBound, rows);
  return { block: last.lastBlock, address: last.address, tokenId: last.tokenId, run, upperBound };
}

/** An empty page still returns one row, without a token. */
type PageRow = SubjectColumns & (TokenColumns | { token_address: null });

interface TokenColumns {
  token_address: Address;
  token_id: string;
  amount: string;
  last_block: number;
  is_sum: boolean;
}
