import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, hexText, joinSql, type ReadDatabase, rawSql, type Sql, sql, where } from '@chainstead/db';
import { coverage, fromDateBound, hasContradicted, isBuilt, isComplete, toDateBound } from '@chainstead/pages';
import { etherQuotes } from '@chainstead/tokens/price-feeds/quotes';
import { tokensOf } from '@chainstead/tokens/token-book';
import {
  isSalePrice,
  isSingleToken,
  NATIVE_CURRENCY,
  PLACE_COLUMNS,
  saleSummary,
  unitPrice,
} from '../trades/sale.ts';
import { saleDays, WHOLE_COLLECTION } from '../trades/sale-days.ts';
import { ofCollection, ofToken } from '../trades/trade-conditions.ts';
import { BY_BIDS, type Priced, pricedBefore } from '../trades/trade-price-statement.ts';

export interface SalePricesQuery {
  readonly token: Address;
  readonly tokenId: string | null;
  /** Before `now`. 0: empty. */
  readonly days: number;
  readonly now: Date;
  readonly includeWrapped: boolean;
}

const DAY_MS = 86_400_000;

/**
 * Whole UTC days from `nft_sale_days`, the first day from its trades. Accepted Punk bids have no
 * stored price: they are read from all trades of the window.
 * @param isSpread whether tables are distributed
 */
export function salePricesStatement(chain: Chain, query: SalePricesQuery, isSpread = false): Sql {
  const start = new Date(query.now.getTime() - query.days * DAY_MS);
  const firstWholeDay = new Date(Math.ceil(start.getTime() / DAY_MS) * DAY_MS);
  const chainId = sql`${chain.id}`;
  const from = sql`${start}::timestamptz`;
  const wholeFrom = sql`${firstWholeDay}::timestamptz`;
  const scan: Scan = {
    collection: query.token,
    chainId,
    tokenId: query.tokenId === null ? null : sql`${query.tokenId}::numeric`,
    payments: sql`${etherPayments(chain, { withWrapped: query.includeWrapped }).map(addressBytes)}::bytea[]`,
    priced: isSpread ? pricedBefore(chain, chainId, { collection: query.token }) : BY_BIDS,
  };
  const quotes = etherQuotes(chain, chainId);
  const parts = [
    wholeDays(scan, wholeFrom),
    sales(
      scan,
      sql`trade.block_number <= (SELECT block FROM to_date) AND trade.block_timestamp >= ${from} AND trade.block_timestamp < ${wholeFrom}`,
    ),
    ...(query.token === chain.cryptoPunks
      ? [sales(scan, sql`trade.price IS NULL AND trade.block_timestamp >= ${wholeFrom}`)]
      : []),
  ];
  const span = {
    lowest: sql`greatest((SELECT known_block FROM from_date), ${chain.firstBlock}::bigint)`,
    highest: sql`covered.indexed_to`,
  };
  const isPicked = PLACE_COLUMNS.map((column) => rawSql(`trade.${column} = picked.${column}`));
  const pickedTrade = sql`SELECT ${PLACE}, trade.transaction_hash, trade.block_timestamp, trade.buyer, trade.seller, trade.token_id,
      trade.payment_token, ${unitOf(scan.priced)} FROM nft_trades AS trade ${scan.priced.join} ${where([...ofThis(scan), ...isPicked])}`;
  const ctes = [
    fromDateBound(chainId, from),
    toDateBound(chainId, wholeFrom),
    coverage(chainId, DATASET),
    ...quotes.ctes,
    ...scan.priced.ctes,
    sql`summary AS MATERIALIZED (
  SELECT coalesce(sum(sales), 0) AS sales, sum(total) AS total, min(lowest) AS lowest, min(highest) AS highest, min(latest) AS latest
  FROM (${joinSql(parts, '\n  UNION ALL ')}) AS part WHERE ${query.days}::integer > 0)`,
    PICKED,
    sql`trade AS MATERIALIZED (
  SELECT picked.sale, trade.* FROM picked LEFT JOIN LATERAL (SELECT * FROM (${pickedTrade}) AS trade LIMIT 1) AS trade ON true)`,
  ];
  const atSale = quotes.at({
    block: sql`trade.block_number`,
    transaction: sql`trade.transaction_index`,
    log: sql`trade.log_index`,
  });
  return sql`WITH ${joinSql(ctes)}, state AS MATERIALIZED (
  SELECT covered.indexed_from, covered.indexed_to, ${isComplete(span)} AND NOT ${hasContradicted(chainId, DATASET, span)} AND ${isBuilt(chainId, saleDays)} AS complete FROM covered
), shown AS MATERIALIZED (
  SELECT trade.*, quote.value AS quote_value, quote.source AS quote_source, newest.value AS newest_value, newest.source AS newest_source
  FROM (VALUES (true)) AS one LEFT JOIN trade ON true LEFT JOIN LATERAL ${atSale} AS quote ON true LEFT JOIN LATERAL ${quotes.at(null)} AS newest ON true
)
SELECT state.*, summary.sales::bigint AS sales, div(summary.total, nullif(summary.sales, 0)) AS average, trade.sale, ${SHOWN_COLUMNS},
  ${tokensOf(sql`SELECT payment_token FROM trade`, chainId)} AS tokens,
  trade.quote_value, trade.quote_source, trade.newest_value, trade.newest_source
FROM state CROSS JOIN summary CROSS JOIN shown AS trade`;
}

const DATASET = 'nft-trades';

interface Scan {
  readonly collection: Address;
  readonly chainId: Sql;
  readonly tokenId: Sql | null;
  readonly payments: Sql;
  readonly priced: Priced;
}

function wholeDays({ collection, chainId, tokenId, payments }: Scan, from: Sql): Sql {
  return sql`SELECT sales, total, ${sale('lowest', '')} AS lowest, ${sale('highest', '-')} AS highest,
      ARRAY[-latest_block, -latest_transaction, -latest_log, -latest_item]::numeric[] AS latest
    FROM nft_sale_days WHERE token_address = ${addressBytes(collection)} AND chain_id = ${chainId} AND token_id = ${tokenId ?? rawSql(WHOLE_COLLECTION)} AND payment_token = ANY (${payments})
      AND day >= (${from} AT TIME ZONE 'UTC')::date`;
}

function sale(which: 'lowest' | 'highest', sign: '' | '-'): Sql {
  return rawSql(
    `ARRAY[${sign}${which}, ${which}_block, ${which}_transaction, ${which}_log, ${which}_item]::numeric[]`,
  );
}

function sales(scan: Scan, condition: Sql): Sql {
  const { tokenId, payments, priced } = scan;
  const picked = sql`SELECT ${PLACE}, ${unitOf(priced)} FROM nft_trades AS trade ${priced.join}
      ${where([
        ...ofThis(scan),
        ...(tokenId === null ? [] : ofToken(tokenId)),
        sql`trade.block_number >= (SELECT block FROM from_date)`,
        condition,
        sql`coalesce(trade.payment_token, ${NATIVE_CURRENCY}) = ANY (${payments})`,
        isSingleToken('trade'),
      ])}`;
  return sql`SELECT ${saleSummary('sale')} FROM (${picked}) AS sale WHERE ${isSalePrice('sale.unit')}`;
}

function ofThis({ collection, chainId }: Scan): readonly Sql[] {
  return [...ofCollection(collection), sql`chain_id = ${chainId}`];
}

const PLACE = joinSql(PLACE_COLUMNS.map((column) => rawSql(`trade.${column}`)));
const unitOf = ({ price }: Priced): Sql => sql`${unitPrice('trade', price)} AS unit`;

const PICKED = sql`picked AS MATERIALIZED (
  SELECT sale, place[1]::bigint AS block_number, place[2]::integer AS transaction_index, place[3]::integer AS log_index, place[4]::integer AS item
  FROM summary CROSS JOIN LATERAL (VALUES
    ('last', ARRAY[-latest[1], -latest[2], -latest[3], -latest[4]]), ('lowest', lowest[2:]), ('highest', highest[2:])) AS shown(sale, place)
  WHERE sales > 0)`;

const SHOWN_COLUMNS = sql`${hexText('trade.transaction_hash')} AS "transactionHash", trade.block_timestamp,
  ${hexText('trade.buyer')} AS buyer, ${hexText('trade.seller')} AS seller, trade.unit AS price, trade.token_id,
  ${hexText('trade.payment_token')} AS "paymentToken"`;

/** docs/api/trades-and-prices.md#sale-prices. Empty if the chain has no ether. */
function etherPayments(chain: Chain, { withWrapped }: { readonly withWrapped: boolean }): readonly Address[] {
  if (!chain.native.isEther) return chain.bridgedEther === null ? [] : [chain.bridgedEther];
  return withWrapped && chain.wrappedNative !== null ? [ZERO_ADDRESS, chain.wrappedNative] : [ZERO_ADDRESS];
}

export interface SaleDay {
  /** UTC, `2026-01-31`. */
  readonly day: string;
  readonly sales: number;
  readonly lowest: string;
  readonly average: string;
  readonly highest: string;
}

export async function readSaleDays(
  database: ReadDatabase,
  chain: Chain,
  { token, tokenId, days }: { readonly token: Address; readonly tokenId: string | null; readonly days: number },
): Promise<readonly SaleDay[]> {
  return database.select<SaleDay>(
    sql`SELECT day::text AS day, sum(sales)::bigint AS sales, min(lowest)::text AS lowest,
       div(sum(total), sum(sales))::text AS average, max(highest)::text AS highest
     FROM nft_sale_days
     WHERE token_address = ${addressBytes(token)} AND chain_id = ${chain.id} AND token_id = ${tokenId ?? String(WHOLE_COLLECTION)}::numeric AND payment_token = ANY (${etherPayments(chain, { withWrapped: true }).map(addressBytes)}::bytea[])
       AND day > (now() AT TIME ZONE 'UTC')::date - ${days}::integer
     GROUP BY day ORDER BY nft_sale_days.day`,
  );
}
