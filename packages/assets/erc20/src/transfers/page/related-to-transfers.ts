import type { Address } from '@chainstead/core';
import { type Sql, sql } from '@chainstead/db';
import {
  type AddressLabel,
  type ChainInSql,
  type LabelEntry,
  type PageBlock,
  readBlocks,
  readLabels,
} from '@chainstead/pages';

interface ShownToken {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly verified: boolean | null;
  readonly possibleSpam: boolean | null;
}

export interface RelatedToTransfers {
  blockOf(transfer: { readonly block_number: number }): PageBlock;
  tokenOf(token: Address): ShownToken;
  labelOf(address: Address): AddressLabel;
}

export interface RelatedColumns {
  readonly blocks: string | null;
  readonly tokens:
    | readonly (readonly [
        address: string,
        name: string | null,
        symbol: string | null,
        decimals: number | null,
        logo: string | null,
        verified: boolean | null,
        possibleSpam: boolean | null,
        isNft: boolean | null,
      ])[]
    | null;
  readonly labels: readonly LabelEntry[] | null;
}

/** For {@link RelatedColumns.tokens}. @param tokens a query for them */
export function tokensOf(tokens: Sql, chainId: ChainInSql): Sql {
  return sql`(SELECT json_agg(json_build_array(encode(address, 'hex'), name, symbol, decimals, logo, verified, possible_spam, standard IN (${NFT_STANDARDS})))
    FROM tokens WHERE address = ANY (ARRAY(${tokens})) AND chain_id = ${chainId})`;
}

/** These contracts never appear among ERC-20 transfers. */
export const NFT_STANDARDS = sql`'erc721', 'erc1155'`;

/** @throws {InconsistentPageError} if a transfer lacks its block */
export function readRelated(
  row: RelatedColumns,
  transfers: readonly { readonly block_number: number }[],
): RelatedToTransfers {
  const tokens = new Map<string, ShownToken>();
  for (const [address, name, symbol, decimals, logo, verified, possibleSpam] of row.tokens ?? [])
    tokens.set(`0x${address}`, { name, symbol, decimals, logo, verified, possibleSpam });
  return {
    blockOf: readBlocks(row.blocks, transfers),
    tokenOf: (token) => tokens.get(token) ?? UNKNOWN_TOKEN,
    labelOf: readLabels(row.labels),
  };
}

const UNKNOWN_TOKEN = { name: null, symbol: null, decimals: null, logo: null, verified: null, possibleSpam: null };
