import {
  type ColumnOf,
  columnList,
  columnsAs,
  deleteByKey,
  joinSql,
  namesOf,
  rawSql,
  type Sql,
  sql,
} from '@chainstead/db';
import { defineSqlLookup, keyOfLookup, type Projection, type RemovedRows } from '@chainstead/sync/datasets';
import { IN_SHARD_OF_CONTRACT } from '../transfers/moved-amounts.ts';
import { dayOf, isSalePrice, isSingleToken, NATIVE_CURRENCY, saleSummary, unitPrice } from './sale.ts';
import { nftTrades, nftSaleDays as table } from './schema.ts';

/**
 * By token and by collection (token id −1). A minimum can't be reversed: days of removed rows are
 * recomputed from the trades.
 */
export const saleDays: Projection = {
  name: 'nft-sale-days',
  version: 1,
  tables: [table],
  added: ({ rows }) => [addSales(rows)],
  removed: (change) => [deleteByKey(table, KEY, touchedDays(change.rows)), ...recomputeDays(change)],
};

export const WHOLE_COLLECTION = -1;

type Column = ColumnOf<typeof table>;

const KEY: readonly Column[] = ['tokenAddress', 'chainId', 'tokenId', 'paymentToken', 'day'];
const DAY_TYPES = {
  token_address: 'bytea',
  chain_id: 'bigint',
  token_id: 'numeric',
  payment_token: 'bytea',
  day: 'date',
};
const POSITION_TYPES = {
  block_number: 'integer',
  transaction_index: 'integer',
  log_index: 'integer',
  item: 'integer',
};
const SALE_TYPES = { ...DAY_TYPES, ...POSITION_TYPES, unit: 'numeric' };
const LOWEST_POSITION: readonly Column[] = ['lowestBlock', 'lowestTransaction', 'lowestLog', 'lowestItem'];
const HIGHEST_POSITION: readonly Column[] = ['highestBlock', 'highestTransaction', 'highestLog', 'highestItem'];
const LATEST: readonly Column[] = ['latestBlock', 'latestTransaction', 'latestLog', 'latestItem'];
const LOWEST: readonly Column[] = ['lowest', ...LOWEST_POSITION];
const HIGHEST: readonly Column[] = ['highest', ...HIGHEST_POSITION];
const COLUMNS = columnList(table, [...KEY, 'sales', 'total', ...LOWEST, ...HIGHEST, ...LATEST]);
const BOTH_IDS = sql`unnest(ARRAY[sale.token_id, ${rawSql(WHOLE_COLLECTION)}]) AS counted(id)`;
const other = columnsAs(table, 'other');
const trade = columnsAs(nftTrades, 'trade');

function addSales(rows: Sql): Sql {
  const list = (columns: readonly Column[], alias: string) => columnList(table, columns, alias);
  const isLower = sql`(${list(LOWEST, 'excluded')}) < (${list(LOWEST, 'stored')})`;
  const isHigher = sql`(-excluded.highest, ${list(HIGHEST_POSITION, 'excluded')}) < (-stored.highest, ${list(HIGHEST_POSITION, 'stored')})`;
  const isLater = sql`(${list(LATEST, 'excluded')}) > (${list(LATEST, 'stored')})`;
  return sql`INSERT INTO nft_sale_days AS stored (${COLUMNS})
  ${daysOf(sql`SELECT sale.*, counted.id FROM (${salesOf(rows)}) AS sale CROSS JOIN ${BOTH_IDS}`)}
  ON CONFLICT (${columnList(table, KEY)}) DO UPDATE SET sales = stored.sales + excluded.sales, total = stored.total + excluded.total,
  ${replaceIf(isLower, LOWEST)}, ${replaceIf(isHigher, HIGHEST)}, ${replaceIf(isLater, LATEST)}`;
}

function recomputeDays({ rows, remaining, access }: RemovedRows): readonly Sql[] {
  return (['token', 'collection'] as const).map((of) => {
    const isOf = rawSql(`token_id ${of === 'token' ? '<>' : '='} ${WHOLE_COLLECTION}`);
    const touched = sql`SELECT * FROM (${touchedDays(rows)}) AS every WHERE ${isOf}`;
    const near = defineSqlLookup({
      name: `nearest_days_of_${of}`,
      by: DAY_TYPES,
      wanted: touched,
      found: { above: 'bigint', below: 'bigint' },
      shard: { column: table.tokenAddress, key: (at) => at.token_address },
      find: (at, isInShard) => {
        const isSame = sql`${isInShard('other')} AND ${other.chainId} = ${at.chain_id} AND ${other.tokenId} = ${at.token_id}
            AND ${other.paymentToken} = ${at.payment_token}`;
        const newest = rawSql('max(greatest(lowest_block, highest_block, latest_block))');
        const oldest = rawSql('min(least(lowest_block, highest_block, latest_block))');
        return sql`SELECT
        coalesce((SELECT ${newest} FROM (SELECT * FROM nft_sale_days AS other WHERE ${isSame} AND ${other.day} < ${at.day}
          ORDER BY ${other.day} DESC LIMIT 1) AS nearest), -1)::bigint AS above,
        coalesce((SELECT ${oldest} FROM (SELECT * FROM nft_sale_days AS other WHERE ${isSame} AND ${other.day} > ${at.day}
          ORDER BY ${other.day} ASC LIMIT 1) AS nearest), 9223372036854775807)::bigint AS below`;
      },
    });
    // Bounds from the nearest other days: only that day's blocks are read, as times never decrease.
    const between = sql`(${touched}) AS touched CROSS JOIN LATERAL (${access.lookup(near, keyOfLookup('touched', near))}) AS near`;
    const sales = defineSqlLookup({
      name: `sales_of_${of}_days`,
      by: { ...DAY_TYPES, above: 'bigint', below: 'bigint' },
      wanted: sql`SELECT touched.*, near.* FROM ${between}`,
      found: SALE_TYPES,
      shard: { ...IN_SHARD_OF_CONTRACT, column: nftTrades.collectionKey },
      find: (at, isInShard) =>
        salesOf(sql`(
      SELECT * FROM ${remaining} AS trade
      WHERE ${isInShard('trade')} AND ${trade.tokenAddress} = ${at.token_address} AND ${trade.chainId} = ${at.chain_id}
        ${of === 'token' ? sql`AND token_id_key(${trade.tokenId}) = token_id_key(${at.token_id}) AND ${trade.tokenId} = ${at.token_id}` : rawSql('')}
        AND ${trade.blockNumber} > ${at.above} AND ${trade.blockNumber} < ${at.below}
        AND ${dayOf('trade')} = ${at.day} AND coalesce(${trade.paymentToken}, ${NATIVE_CURRENCY}) = ${at.payment_token})`),
    });
    const at = { ...keyOfLookup('touched', near), above: sql`near.above`, below: sql`near.below` };
    return sql`INSERT INTO nft_sale_days (${COLUMNS})
  ${daysOf(sql`SELECT sale.*, touched.token_id AS id FROM ${between} CROSS JOIN LATERAL (${access.lookup(sales, at)}) AS sale`)}`;
  });
}

function touchedDays(rows: Sql): Sql {
  return sql`SELECT DISTINCT sale.token_address, sale.chain_id, counted.id AS token_id, sale.payment_token, sale.day
    FROM (${salesOf(rows)}) AS sale CROSS JOIN ${BOTH_IDS}`;
}

function salesOf(rows: Sql): Sql {
  const position = columnList(nftTrades, ['blockNumber', 'transactionIndex', 'logIndex', 'item'], 'trade');
  return sql`SELECT * FROM (
      SELECT ${trade.tokenAddress}, ${trade.chainId}, ${trade.tokenId}, coalesce(${trade.paymentToken}, ${NATIVE_CURRENCY}) AS payment_token,
        ${dayOf('trade')} AS day, ${position}, ${unitPrice('trade', trade.price)} AS unit
      FROM ${rows} AS trade WHERE ${trade.price} > 0 AND ${isSingleToken('trade')}
    ) AS priced WHERE ${isSalePrice('unit')}`;
}

function daysOf(sales: Sql): Sql {
  return sql`SELECT token_address, chain_id, id, payment_token, day, sales, total,
    lowest[1], lowest[2], lowest[3], lowest[4], lowest[5],
    -highest[1], highest[2], highest[3], highest[4], highest[5],
    -latest[1], -latest[2], -latest[3], -latest[4]
  FROM (
    SELECT token_address, chain_id, id, payment_token, day, ${saleSummary('sale')}
    FROM (${sales}) AS sale GROUP BY token_address, chain_id, id, payment_token, day
  ) AS summed ORDER BY token_address, chain_id, id, payment_token, day`;
}

function replaceIf(condition: Sql, columns: readonly Column[]): Sql {
  const values = namesOf(table, columns).map(
    (name) =>
      sql`${rawSql(name)} = CASE WHEN ${condition} THEN ${rawSql(`excluded.${name} ELSE stored.${name}`)} END`,
  );
  return joinSql(values, ',\n  ');
}
