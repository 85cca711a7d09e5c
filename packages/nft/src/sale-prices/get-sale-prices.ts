import type { Chain } from '@chainstead/chains';
import type { Address, Fraction } from '@chainstead/core';
import { areTablesSpread, type Indexed, type IndexedColumns, readIndexed } from '@chainstead/data-api';
import type { ReadDatabase } from '@chainstead/db';
import { readEtherQuote } from '@chainstead/price-feeds';
import { type SalePricesQuery, salePricesStatement } from './sale-prices-statement.ts';

/** One sale. Amounts are decimal digits of wei. */
export interface Sale {
  readonly transactionHash: string;
  readonly blockTimestamp: Date;
  readonly buyer: Address;
  readonly seller: Address;
  /** The price of one unit. */
  readonly price: string;
  readonly tokenId: string;
  /** Null: the chain's native token. */
  readonly paymentToken: PaymentToken | null;
  /** Dollars per ether at the sale; null if the chain has no price. */
  readonly etherPrice: Fraction | null;
}

export interface PaymentToken {
  readonly address: Address;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly logo: string | null;
}

export interface SalePrices {
  /** Null if there is none. */
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

/** Returns the summary of a token's or collection's sales over some days, in one statement. */
export async function getSalePrices(database: ReadDatabase, chain: Chain, query: SalePricesQuery): Promise<SalePrices> {
  const rows = await database.select<Row>(salePricesStatement(chain, query, await areTablesSpread(database)));
  const [first] = rows;
  const saleOf = (name: Row['sale']): Sale | null => {
    const row = rows.find(({ sale }) => sale === name);
    return row === undefined || row.transaction_hash === null ? null : toSale(chain, row);
  };
  const [last, lowest, highest] = [saleOf('last'), saleOf('lowest'), saleOf('highest')];
  const average = first?.average ?? null;
  return {
    sales:
      first === undefined || average === null || last === null || lowest === null || highest === null
        ? null
        : { count: first.sales, last, lowest, highest, average },
    etherPrice:
      first === undefined ? null : readEtherQuote(chain, { value: first.newest_value, source: first.newest_source }),
    indexed: readIndexed(first),
  };
}

type Row = CommonColumns & (SaleColumns | { transaction_hash: null });

interface CommonColumns extends IndexedColumns {
  sales: number;
  average: string | null;
  sale: 'last' | 'lowest' | 'highest' | null;
  newest_value: string | null;
  newest_source: number | null;
}

interface SaleColumns {
  transaction_hash: string;
  block_timestamp: Date;
  buyer: Address;
  seller: Address;
  price: string;
  token_id: string;
  payment_token: Address | null;
  payment_name: string | null;
  payment_symbol: string | null;
  payment_logo: string | null;
  quote_value: string | null;
  quote_source: number | null;
}

function toSale(chain: Chain, row: SaleColumns): Sale {
  return {
    transactionHash: row.transaction_hash,
    blockTimestamp: row.block_timestamp,
    buyer: row.buyer,
    seller: row.seller,
    price: row.price,
    tokenId: row.token_id,
    paymentToken:
      row.payment_token === null
        ? null
        : {
            address: row.payment_token,
            name: row.payment_name,
            symbol: row.payment_symbol,
            logo: row.payment_logo,
          },
    etherPrice: readEtherQuote(chain, { value: row.quote_value, source: row.quote_source }),
  };
}
