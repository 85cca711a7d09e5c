import { type Database, hexBytes, hexText, rawSql, type Sql, sql } from '@chainstead/db';
import { listCoverage } from '../sync/aptos-status.ts';
import type { AptosNetwork } from '../transaction.ts';
import { type CoinLine, renderCoin, renderEnd, renderHeader } from './coins-file.ts';

const PAGE = 2_000;

export async function* exportCoins(database: Database, network: AptosNetwork): AsyncGenerator<string> {
  // First: no claimed coin can be missing, but newer ones may be included.
  const coverage = await listCoverage(database, network);
  yield renderHeader({
    network,
    covered: coverage.flatMap(({ dataset, range }) => (dataset === 'coins' ? [range] : [])),
  });
  let count = 0;
  for (let after: CoinLine | null = null; ; ) {
    const coins: CoinLine[] = await readPage(database, network, after);
    for (const coin of coins) yield renderCoin(coin);
    count += coins.length;
    if (coins.length < PAGE) break;
    after = coins.at(-1) ?? null;
  }
  yield renderEnd(count);
}

async function readPage(database: Database, network: AptosNetwork, after: CoinLine | null): Promise<CoinLine[]> {
  const hex = (column: string): Sql => sql`${hexText(column)} AS ${rawSql(column)}`;
  const rows = await database.query<{ line: CoinLine }>(
    sql`SELECT to_json(coin) AS line FROM (
     SELECT ${hex('coin_type_hash')}, coin_type, ${hex('creator_address')}, name, symbol, decimals,
            ${hex('supply_aggregator_table_handle')}, ${hex('supply_aggregator_table_key')},
            transaction_version, transaction_timestamp
       FROM aptos_coins c
      WHERE network = ${network} AND (c.transaction_version, c.coin_type_hash) > (${after?.transaction_version ?? -1}, ${hexBytes(after?.coin_type_hash ?? '')})
      ORDER BY c.transaction_version, c.coin_type_hash LIMIT ${rawSql(PAGE)}) AS coin
      ORDER BY coin.transaction_version, coin.coin_type_hash COLLATE "C"`,
  );
  return rows.map(({ line: { transaction_timestamp: time, ...line } }) => ({
    ...line,
    transaction_timestamp: new Date(time).toISOString(),
  }));
}
