import { columnsOf, type DerivedState, defineLookUp, IN_PLACE, type Reading } from '@chainstead/sync';
import { WITH_CONTRACT } from '../transfers/moved-amounts.ts';
import { dayOf, isSalePrice, isSingleToken, NATIVE_CURRENCY, saleSummary, unitPrice } from './sale.ts';

/**
 * `nft_sale_days`: what the sales of a token, and of a collection (token id −1), add up to by day and payment token.
 *
 * Added rows are added to what is there. For removed rows, the days that they belonged to are computed anew from
 * the trades: a minimum can't be taken back. Both give the same whatever the order of rows.
 */
export const saleDays: DerivedState = {
  name: 'nft-sale-days',
  version: 1,
  tables: ['nft_sale_days'],
  added: (rows) => [addSales(rows)],
  removed: (rows, _kept, counted, reading = IN_PLACE) => [forgetDays(rows), ...recomputeDays(rows, counted, reading)],
};

/** The token id that stands for the collection. */
export const WHOLE_COLLECTION = -1;

const KEY = ['token_address', 'chain_id', 'token_id', 'payment_token', 'day'];
/** Types of the key's columns, and of those of sales. */
const DAY_TYPES = {
  token_address: 'bytea',
  chain_id: 'bigint',
  token_id: 'numeric',
  payment_token: 'bytea',
  day: 'date',
};
const PLACE_TYPES = { block_number: 'integer', transaction_index: 'integer', log_index: 'integer', item: 'integer' };
const SALE_TYPES = { ...DAY_TYPES, ...PLACE_TYPES, unit: 'numeric' };
const PLACE_PARTS = ['block', 'transaction', 'log', 'item'];
const placeOf = (sale: string): string[] => PLACE_PARTS.map((part) => `${sale}_${part}`);
const LOWEST = ['lowest', ...placeOf('lowest')];
const HIGHEST = ['highest', ...placeOf('highest')];
const LATEST = placeOf('latest');
const COLUMNS = [...KEY, 'sales', 'total', ...LOWEST, ...HIGHEST, ...LATEST];

function addSales(rows: string): string {
  return `INSERT INTO nft_sale_days AS kept (${COLUMNS.join(', ')})
  ${daysOf(`SELECT sale.*, counted.id FROM (${salesOf(rows)}) AS sale CROSS JOIN unnest(ARRAY[sale.token_id, ${WHOLE_COLLECTION}]) AS counted(id)`)}
  ON CONFLICT (${KEY.join(', ')}) DO UPDATE SET sales = kept.sales + excluded.sales, total = kept.total + excluded.total,
  ${replacing(LOWEST, lessThan('excluded', 'kept', 'lowest', ''))},
  ${replacing(HIGHEST, lessThan('excluded', 'kept', 'highest', '-'))},
  ${replacing(LATEST, `(${LATEST.map((column) => `excluded.${column}`).join(', ')}) > (${LATEST.map((column) => `kept.${column}`).join(', ')})`)}`;
}

function forgetDays(rows: string): string {
  return `WITH touched AS MATERIALIZED (${touchedDays(rows)})
  DELETE FROM nft_sale_days AS kept USING touched WHERE ${KEY.map((column) => `kept.${column} = touched.${column}`).join(' AND ')}`;
}

/** By token and for the whole collection, each by the index that serves it. */
function recomputeDays(rows: string, counted: string, reading: Reading): string[] {
  return (['token', 'collection'] as const).map((of) => {
    const touched = `SELECT * FROM (${touchedDays(rows)}) AS every WHERE token_id ${of === 'token' ? '<>' : '='} ${WHOLE_COLLECTION}`;
    const near = defineLookUp({
      name: `nearest_days_of_${of}`,
      by: DAY_TYPES,
      wanted: touched,
      found: { above: 'bigint', below: 'bigint' },
      place: { table: 'nft_sale_days', type: 'bytea', key: (at) => at.token_address },
      find: (at, isThere) => {
        const other = { at, isThere };
        return `SELECT ${neighbour('<', 'max(greatest(lowest_block, highest_block, latest_block))', '-1', other)}::bigint AS above,
        ${neighbour('>', 'min(least(lowest_block, highest_block, latest_block))', '9223372036854775807', other)}::bigint AS below`;
      },
    });
    const between = `(${touched}) AS touched CROSS JOIN LATERAL (${reading.lookUp(near, columnsOf('touched', near))}) AS near`;
    const sales = defineLookUp({
      name: `sales_of_${of}_days`,
      by: { ...DAY_TYPES, ...near.found } as typeof DAY_TYPES & Record<'above' | 'below', string>,
      wanted: `SELECT touched.*, near.* FROM ${between}`,
      found: SALE_TYPES,
      place: { ...WITH_CONTRACT, table: 'nft_trades' },
      find: (at, isThere) =>
        salesOf(`(
      SELECT * FROM ${counted} AS trade
      WHERE ${isThere('trade.collection_key')} AND trade.token_address = ${at.token_address} AND trade.chain_id = ${at.chain_id}
        ${of === 'token' ? `AND token_id_key(trade.token_id) = token_id_key(${at.token_id}) AND trade.token_id = ${at.token_id}` : ''}
        AND trade.block_number > ${at.above} AND trade.block_number < ${at.below}
        AND ${dayOf('trade')} = ${at.day} AND coalesce(trade.payment_token, ${NATIVE_CURRENCY}) = ${at.payment_token})`),
    });
    const at = { ...columnsOf('touched', near), above: 'near.above', below: 'near.below' };
    return `INSERT INTO nft_sale_days (${COLUMNS.join(', ')})
  ${daysOf(`SELECT sale.*, touched.token_id AS id FROM ${between} CROSS JOIN LATERAL (${reading.lookUp(sales, at)}) AS sale`)}`;
  });
}

/**
 * A block of the same sales on the nearest other day, so that only the blocks of the day are read: times never fall as block
 * numbers rise.
 */
function neighbour(
  side: '<' | '>',
  block: string,
  none: string,
  { at, isThere }: { readonly at: Readonly<Record<string, string>>; readonly isThere: (column: string) => string },
): string {
  const isSame = KEY.slice(1, -1).map((column) => `other.${column} = ${at[column]}`);
  return `coalesce((SELECT ${block} FROM (
          SELECT * FROM nft_sale_days AS other WHERE ${[isThere('other.token_address'), ...isSame].join(' AND ')} AND other.day ${side} ${at.day}
          ORDER BY other.day ${side === '<' ? 'DESC' : 'ASC'} LIMIT 1) AS nearest), ${none})`;
}

/** The days that sales of the relation belong to, those of their tokens and those of their collections. */
function touchedDays(rows: string): string {
  return `SELECT DISTINCT sale.token_address, sale.chain_id, counted.id AS token_id, sale.payment_token, sale.day
    FROM (${salesOf(rows)}) AS sale CROSS JOIN unnest(ARRAY[sale.token_id, ${WHOLE_COLLECTION}]) AS counted(id)`;
}

/** The sales among trades. */
function salesOf(rows: string): string {
  return `SELECT * FROM (
      SELECT trade.token_address, trade.chain_id, trade.token_id, coalesce(trade.payment_token, ${NATIVE_CURRENCY}) AS payment_token, ${dayOf('trade')} AS day,
        trade.block_number, trade.transaction_index, trade.log_index, trade.item, ${unitPrice('trade', 'trade.price')} AS unit
      FROM ${rows} AS trade WHERE trade.price > 0 AND ${isSingleToken('trade')}
    ) AS priced WHERE ${isSalePrice('unit')}`;
}

/** Rows of the table from sales with their `id`, in the order of the key. */
function daysOf(sales: string): string {
  return `SELECT token_address, chain_id, id, payment_token, day, sales, total,
    lowest[1], lowest[2], lowest[3], lowest[4], lowest[5],
    -highest[1], highest[2], highest[3], highest[4], highest[5],
    -latest[1], -latest[2], -latest[3], -latest[4]
  FROM (
    SELECT token_address, chain_id, id, payment_token, day, ${saleSummary('sale')}
    FROM (${sales}) AS sale GROUP BY token_address, chain_id, id, payment_token, day
  ) AS summed ORDER BY token_address, chain_id, id, payment_token, day`;
}

function lessThan(one: string, other: string, sale: string, sign: '' | '-'): string {
  const read = (row: string): string =>
    [`${sign}${row}.${sale}`, ...placeOf(sale).map((column) => `${row}.${column}`)].join(', ');
  return `(${read(one)}) < (${read(other)})`;
}

function replacing(columns: readonly string[], condition: string): string {
  return columns
    .map((column) => `${column} = CASE WHEN ${condition} THEN excluded.${column} ELSE kept.${column} END`)
    .join(',\n  ');
}
