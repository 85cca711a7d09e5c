import { subjectColumns, subjectCoverage, subjectHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Bind, expectedTrue, hexText, type Statement, where } from '@chainstead/db';
import { collectionFacts } from '../collections/collection-facts-statement.ts';
import { type ChangePlace, MARK_LENGTH, unshownChanges } from '../records/change-pages.ts';
import { tokenHashInSql } from '../records/token-hash.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';

/** Where the page before ended: its last row. */
export interface WalletNftsPlace extends ChangePlace {
  readonly address: Address;
  readonly tokenId: string;
}

/** What to read. */
export interface WalletNftsQuery {
  readonly wallet: Address;
  /** Tokens wanted; one more is read to see whether a page follows. */
  readonly limit: number;
  /** Null for the first page. */
  readonly after: WalletNftsPlace | null;
  readonly excludeSpam: boolean;
  /** Empty: all. */
  readonly contracts: readonly Address[];
}

/** The dataset whose coverage says what of a wallet is known. */
const DATASET = 'nft-transfers';

/**
 * The statement behind a page: one range of `nft_wallet_tokens_by_change`, read backwards, that stops after limit + 1 tokens
 * (wallet-nfts-statement.explain.test.ts). Amounts of ERC-1155 are sums (`is_sum`), which are right with the wallet's whole history alone.
 */
export function walletNftsStatement(chain: Chain, query: WalletNftsQuery): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const wallet = bind(addressBytes(query.wallet));
  const chainId = `${bind(chain.id)}::bigint`;
  const fact = (column: string, of = 'held'): string =>
    `(SELECT shown.${column} FROM ${collectionFacts(`${of}.token_address`, chainId)} AS shown)`;
  const bounds = [
    `held.wallet = ${wallet}`,
    `held.chain_id = ${chainId}`,
    'held.amount > 0',
    ...(query.after === null ? [] : behind(query.after, bind)),
    ...(query.contracts.length === 0
      ? []
      : [`held.token_address = ANY (${bind(query.contracts.map(addressBytes))}::bytea[])`]),
    ...(query.excludeSpam ? [expectedTrue(`${fact('possible_spam')} IS NOT TRUE`)] : []),
  ];
  const subject = { kind: 'wallet', subject: wallet, chainId, dataset: DATASET, states: [nftWalletTokens] } as const;
  const text = `WITH ${subjectCoverage(subject)}
SELECT ${subjectColumns(subject)},
  ${hexText('page.token_address')} AS token_address, page.token_id::text AS token_id, page.amount::text AS amount, page.last_block,
  ${fact('contract_type', 'page')} IS NOT DISTINCT FROM 'ERC1155' AS is_sum
FROM covered
LEFT JOIN ${subjectHistory(subject)}
LEFT JOIN LATERAL (
  SELECT held.token_address, held.token_id, held.amount, held.last_block FROM nft_wallet_tokens AS held ${where(bounds)}
  ORDER BY held.last_block DESC, held.token_address DESC, held.token_id DESC LIMIT ${bind(query.limit + 1)}
) AS page ON true
ORDER BY page.last_block DESC, page.token_address DESC, page.token_id DESC`;
  return { text, values };
}

function behind(place: WalletNftsPlace, bind: Bind): readonly string[] {
  const columns = {
    block: 'held.last_block',
    mark: `left(${tokenHashInSql('held.token_address', 'held.token_id')}, ${MARK_LENGTH})`,
    beyond: () =>
      `(held.last_block, held.token_address, held.token_id)
        < (${bind(place.block)}::integer, ${bind(addressBytes(place.address))}::bytea, ${bind(place.tokenId)}::numeric)`,
  };
  return unshownChanges(place, columns, bind);
}
