import type { Database } from '@chainstead/db';
import type { DocumentExamples } from '@chainstead/http';
import type { AptosNetwork } from '../transaction.ts';

const LIMIT = { limit: 10 };

/** Parameters of the Aptos routes that have rows here, for the API's documentation: what one row of each table says. */
export async function readAptosExamples(
  database: Database,
  networks: readonly AptosNetwork[],
): Promise<DocumentExamples> {
  const sample = async <Row extends object>(table: string, columns: string): Promise<Row | null> => {
    const [row] = await database.query<Row>(
      `SELECT ${columns} FROM (SELECT * FROM ${table} LIMIT ${SAMPLE_ROWS}) AS sample WHERE network = ANY ($1) LIMIT 1`,
      [networks],
    );
    return row ?? null;
  };
  const coin = await sample<{ network: string; hash: string; creator: string }>(
    'aptos_coins',
    `network, encode(coin_type_hash, 'hex') AS hash, '0x' || encode(creator_address, 'hex') AS creator`,
  );
  const network = coin === null ? {} : { network: coin.network };
  const page = { ...LIMIT, ...network };
  return {
    getLatestCoins: page,
    getCoinsBySymbolRange: page,
    getCoinsByNameRange: page,
    ...(coin !== null && {
      getCoinsByCreators: { ...page, creator_addresses: coin.creator },
      getCoinInfoByCoinTypeHashes: { ...network, coin_type_hashes: coin.hash },
    }),
  };
}

const SAMPLE_ROWS = 1_000;
