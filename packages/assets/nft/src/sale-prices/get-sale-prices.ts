import type { Chain } from '@chainstead/chains';
import type { Address, Fraction } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { areTablesSpread, type Indexed, type IndexedColumns, readIndexed } from '@chainstead/pages';
import { readEtherQuote } from '@chainstead/tokens/price-feeds/quotes';
import {
  type PackedTokens,
  readTokens,
  type TokenBook,
  type TokenFacts,
  tokenBook,
} from '@chainstead/tokens/token-book';
import { type SalePricesQuery, salePricesStatement } from './sale-prices-statement.ts';

export interface Sale {
  readonly transactionHash: string;
  readonly blockTimestamp: Date;
  readonly buyer: Address;
  readonly seller: Address;
  readonly price: string;
  readonly tokenId: string;
  /** Null: the native token. */
  readonly paymentToken: TokenFacts | null;
  /** Dollars per ether at the sale; null if the chain has no price. */
  readonly etherPrice: Fraction | null;
}

export interface SalePrices {
  readonly sales: {
    readonly count: number;
    readonly last: Sale;
    readonly lowest: Sale;
    readonly highest: Sale;
    /** Rounded down. */
    readonly average: string;
  } | null;
  /** Dollars per ether now; null if the chain has no price. */
  readonly etherPrice: Fraction | null;
  readonly indexed: Indexed;
}

export async function getSalePrices(
  database: ReadDatabase,
  chain: Chain,
  query: SalePricesQuery,
): Promise<SalePrices> {
  const rows = await database.select<SaleColumns>(
    salePricesStatement(chain, query, await areTablesSpread(database)),
  );
  const [first] = rows;
  const tokenOf = tokenBook(readTokens(first?.tokens ?? null));
  const saleOf = (name: SaleColumns['sale']): Sale | null => {
    const row = rows.find(({ sale }) => sale === name);
    return row === undefined || row.transactionHash === null ? null : toSale(chain, row, tokenOf);
  };
  const [last, lowest, highest] = [saleOf('last'), saleOf('lowest'), saleOf('highest')];
  const average = first?.average ?? null;
  return {
    sales:
      first === undefined || average === null || last === null || lowest === null || highest === null
        ? null
        : { count: first.sales, last, lowest, highest, average },
    etherPrice:
      first === undefined
        ? null
        : readEtherQuote(chain, { value: first.newestValue, source: first.newestSource }),
    indexed: readIndexed(first),
  };
}

type StoredSale = Omit<Sale, 'paymentToken' | 'etherPrice'> & {
  readonly paymentToken: Address | null;
  readonly quoteValue: string | null;
  readonly quoteSource: number | null;
};

type SaleColumns = IndexedColumns & {
  readonly sales: number;
  readonly average: string | null;
  readonly tokens: PackedTokens;
  readonly sale: 'last' | 'lowest' | 'highest' | null;
  readonly newestValue: string | null;
  readonly newestSource: number | null;
} & (StoredSale | { readonly transactionHash: null });

function toSale(chain: Chain, stored: StoredSale, tokenOf: TokenBook): Sale {
  const { transactionHash, blockTimestamp, buyer, seller, price, tokenId, paymentToken } = stored;
  return {
    ...{ transactionHash, blockTimestamp, buyer, seller, price, tokenId },
    paymentToken: paymentToken && tokenOf(paymentToken),
    etherPrice: readEtherQuote(chain, { value: stored.quoteValue, source: stored.quoteSource }),
  };
}
