import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@chainstead/db';
import { findPostgresPrograms, startScratchServer } from '@chainstead/testkit';
import { alternate } from '../alternate.ts';
import { type ApiDataset, fillApiDataset } from '../api-dataset.ts';
import { load, WARM_UP_SECONDS } from '../api-load.ts';
import { API_KEY, addressOf, pathOf } from '../api-servers.ts';
import type { Benchmark, BenchmarkContext, Comparison } from '../benchmark.ts';
import { startChainstead } from '../chainstead-program.ts';
import type { MeasuredProcess } from '../measured-process.ts';
import { WALLET_PAGE } from '../wallet-page.ts';

/** What a page reads does not depend on how many rows there are besides. */
const ROWS_MAX = 1_000_000;
const RARE_ROWS = 3;
/** Rows that are written while pages are read: with their indexes some 5,000 a second. */
const WRITTEN_AT_ONCE = 250;
const WRITE_EVERY_MS = 50;

/** As on a server: nothing that a crash could lose is left out. */
const SERVER_SETTINGS = `
fsync = on
shared_buffers = 512MB
max_wal_size = 8GB
`;

/** What `DATABASE_READ_URL` gains or costs, beside the same API on the primary alone. */
export const readStandby: Benchmark = {
  name: 'read-standby',
  title: 'Pages of 100 transfers read on a hot standby, against the primary alone',
  async run(context) {
    const programs = await findPostgresPrograms();
    if (programs === undefined)
      return { comparisons: [], measures: [], notes: ["NOT RUN: Debian's postgresql is not on this machine."] };
    const primary = await programs.createCluster({ settings: SERVER_SETTINGS });
    try {
      const standby = await primary.createStandby();
      const server = await startScratchServer({ url: primary.url() });
      const scratch = await server.createDatabase();
      try {
        const rows = Math.min(ROWS_MAX, context.sizes.apiRows);
        const dataset = await fillApiDataset(scratch.database, { rows, whaleRows: rows / 5, rareRows: RARE_ROWS });
        const name = new URL(scratch.url).pathname.slice(1);
        const urls = { primary: scratch.url, standby: standby.url(name) };
        return {
          comparisons: await compare(context, scratch.database, dataset, urls),
          measures: [],
          notes: [
            'Here the peer is Chainstead itself without DATABASE_READ_URL.',
            'Both servers, the API and the client share the processors of this machine: a standby adds none here, so it shows what reading there costs, not what a second machine gives.',
            `Rows are written to the primary at ${(WRITTEN_AT_ONCE * 1_000) / WRITE_EVERY_MS} a second, where it says so.`,
          ],
        };
      } finally {
        await scratch.drop();
        await server.stop();
        await standby.remove();
      }
    } finally {
      await primary.remove();
    }
  },
};

async function compare(
  { runs, sizes, say }: BenchmarkContext,
  database: Database,
  { busyWallets }: ApiDataset,
  urls: { readonly primary: string; readonly standby: string },
): Promise<Comparison[]> {
  const paths = busyWallets.map((address) => pathOf(WALLET_PAGE, { address }));
  const apis = [startApi(urls.primary, { DATABASE_READ_URL: urls.standby }), startApi(urls.primary, {})];
  try {
    const [reading = '', plain = ''] = await Promise.all(apis.map(addressOf));
    const asking = (name: string, url: string, seconds = sizes.loadSeconds) => ({
      name,
      run: () => load({ url, encoding: 'identity' }, paths, seconds),
    });
    for (const url of [reading, plain]) await asking('warming up', url, WARM_UP_SECONDS).run();
    const measure = async (what: string): Promise<Comparison> => {
      const { first, second } = await alternate(
        runs,
        asking(`with a standby, ${what}`, reading),
        asking(`the primary alone, ${what}`, plain),
        say,
      );
      return { name: `pages, ${what}`, unit: 'requests/s', ours: first, peer: second };
    };
    const idle = await measure('nothing written');
    const stop = new AbortController();
    const writing = write(database, stop.signal);
    try {
      return [idle, await measure('writes going on')];
    } finally {
      stop.abort();
      await writing;
    }
  } finally {
    await Promise.all(apis.map((api) => api.stop()));
  }
}

function startApi(databaseUrl: string, env: Readonly<Record<string, string>>): MeasuredProcess {
  return startChainstead(['start', '--roles', 'api'], {
    databaseUrl,
    rpcUrls: ['http://127.0.0.1:9'],
    env: { PORT: '0', API_KEYS: API_KEY, ...env },
  });
}

/** Transfers of wallets that nobody asks for, in blocks that are there. */
async function write(database: Database, signal: AbortSignal): Promise<void> {
  for (let batch = 1; !signal.aborted; batch += 1) {
    const due = sleep(WRITE_EVERY_MS);
    await database.query(
      `INSERT INTO erc20_transfers
         (account_key, chain_id, block_number, transaction_index, log_index, direction, account, token, counterparty, value, transaction_hash)
       SELECT address_key(account), 1, number % 1000 + 1, 0, 1000000 + $1::int * ${WRITTEN_AT_ONCE} + number, 0, account, account, account, 1, sha256(account)
       FROM (SELECT number, substr(sha256(('writer ' || $1::int || ' ' || number)::bytea), 1, 20) AS account
         FROM generate_series(1, ${WRITTEN_AT_ONCE}) AS number) AS made`,
      [batch],
    );
    await due;
  }
}
