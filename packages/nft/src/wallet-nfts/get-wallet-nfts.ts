import { readSubject, type SubjectColumns, type SubjectCoverage } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { continueRun, MARK_LENGTH } from '../records/change-pages.ts';
import type { RecordKey } from '../records/nft-record.ts';
import { tokenHash } from '../records/token-hash.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import { type WalletNftsPlace, type WalletNftsQuery, walletNftsStatement } from './wallet-nfts-statement.ts';

/** What a wallet holds of one token. */
export interface WalletNft extends RecordKey {
  readonly owner: Address;
  readonly amount: string;
  /** Where it stands among the wallet's tokens: `blockNumber`, or what stands for none. */
  readonly lastBlock: number;
  /** Whether the amount is what transfers add up to: it is right with the wallet's whole history alone. */
  readonly isSum: boolean;
}

/** With what is known of the wallet's history. */
export interface WalletNftsPage extends SubjectCoverage {
  /** Newest change first; at most `query.limit`. */
  readonly tokens: readonly WalletNft[];
  readonly hasNext: boolean;
}

/** A page of the tokens that a wallet holds, with what says how complete it is, in one statement. */
export async function getWalletNfts(
  database: ReadDatabase,
  chain: Chain,
  query: WalletNftsQuery,
): Promise<WalletNftsPage> {
  const statement = walletNftsStatement(chain, query);
  const rows = await database.select<PageRow>(statement.text, statement.values);
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

/** Where the page after this one begins; null after the last. */
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

/** The statement gives one row without a token where the page is empty. */
type PageRow = SubjectColumns & (TokenColumns | { token_address: null });

interface TokenColumns {
  token_address: Address;
  token_id: string;
  amount: string;
  last_block: number;
  is_sum: boolean;
}
