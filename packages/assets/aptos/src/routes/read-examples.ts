import { type Database, hexText, rawSql, type Sql, sql } from '@chainstead/db';
import type { DocumentExamples } from '@chainstead/http';
import type { AptosNetwork } from '../transaction.ts';

const LIMIT = { limit: 10 };

/** From one row per table, for the documentation. */
export async function readAptosExamples(
  database: Database,
  networks: readonly AptosNetwork[],
): Promise<DocumentExamples> {
  const sample = async <Row extends object>(
    table: string,
    columns: Sql,
    where = sql`true`,
  ): Promise<Row | null> => {
    const [row] = await database.query<Row>(
      sql`SELECT network, ${columns} FROM (SELECT * FROM ${rawSql(table)} LIMIT ${rawSql(SAMPLE_ROWS)}) AS sample
       WHERE network = ANY (${networks}) AND ${where} LIMIT 1`,
    );
    return row ?? null;
  };
  const [coin, transfer, balance, past] = await Promise.all([
    sample<Sample<'hash' | 'creator'>>('aptos_coins', sql`${HASH}, ${hexText('creator_address')} AS creator`),
    sample<Sample<'owner' | 'height' | 'coinType'>>(
      'aptos_transfers',
      sql`${OWNER}, block_height::text AS height, coin_type`,
    ),
    sample<Sample<'owner' | 'hash'>>('aptos_balances', sql`${OWNER}, ${HASH}`, sql`amount > 0`),
    sample<Sample<'owner' | 'hash'>>('aptos_balance_history', sql`${OWNER}, ${HASH}`),
  ]);
  return {
    ...coinExamples(coin),
    ...(transfer !== null && transferExamples(transfer)),
    ...(balance !== null && {
      getCoinBalancesByWallets: { ...pageOf(balance), owner_addresses: balance.owner },
      getTopHoldersByCoin: { ...pageOf(balance), coin_type_hash: balance.hash },
    }),
    ...(past !== null && {
      getHistoricalCoinBalancesByWallets: { ...pageOf(past), owner_addresses: past.owner },
    }),
  };
}

const SAMPLE_ROWS = 1_000;
const HASH = sql`encode(coin_type_hash, 'hex') AS hash`;
const OWNER = sql`${hexText('owner_address')} AS owner`;

type Sample<Column extends string> = Readonly<Record<Column | 'network', string>>;

function pageOf({ network }: Sample<never>) {
  return { ...LIMIT, network };
}

function coinExamples(coin: Sample<'hash' | 'creator'> | null): DocumentExamples {
  const page = coin === null ? LIMIT : pageOf(coin);
  return {
    getLatestCoins: page,
    getCoinsBySymbolRange: page,
    getCoinsByNameRange: page,
    ...(coin !== null && {
      getCoinsByCreators: { ...page, creator_addresses: coin.creator },
      getCoinInfoByCoinTypeHashes: { network: coin.network, coin_type_hashes: coin.hash },
    }),
  };
}

function transferExamples(transfer: Sample<'owner' | 'height' | 'coinType'>): DocumentExamples {
  const page = pageOf(transfer);
  return {
    getCoinTransfersByOwnerAddresses: { ...page, owner_addresses: transfer.owner },
    getCoinTransfersByWalletAddresses: { ...page, owner_addresses: transfer.owner },
    getCoinTransfersByBlockHeights: { ...page, block_heights: transfer.height },
    getCoinTransfersByCoinType: { ...page, coin_type: transfer.coinType },
  };
}
