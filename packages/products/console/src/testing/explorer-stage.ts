import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAptosRoutes } from '@chainstead/aptos';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Address, silentLogger, systemClock, waitingAtMost } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createEgress } from '@chainstead/egress';
import { seedTransfers } from '@chainstead/erc20/testing';
import { createPictureReader } from '@chainstead/nft';
import { seedDatasetCoverage, seedMetadata, seedMoves, seedTrades } from '@chainstead/nft/testing';
import { subjectProjectionsOf } from '@chainstead/sync';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { addressOf, closeOf, createScratchDatabase, seedBuilt, storeToken } from '@chainstead/testkit';
import { seedTransactions } from '@chainstead/transactions/testing';
import { createDatasetRoutes, datasets } from 'chainstead/src/datasets/index.ts';
import type { ConsoleOptions } from '../console.ts';
import { type ConsoleStage, openConsoleStage } from './console-stage.ts';

/** All transactions of Base are stored. */
const registry = createChainRegistry({
  additional: [{ key: 'base', id: 8_453, transactions: { mode: 'all', input: 'full', verifiesSenders: true } }],
});
export const [ETH, BASE, POLYGON] = [registry.get('eth'), registry.get('base'), registry.get('polygon')];
export const [ALICE, BOB] = [addressOf(0xa11ce), addressOf(0xb0b)];
/** Has only a transaction, on Base. */
export const SENDER = addressOf(0x5e4d);
/** A collection on Base without transfers that was called. */
export const CALLED = addressOf(0xca11);
export const TOKEN = addressOf(0x70c3);
export const APES = addressOf(0xa9e5);
/** Alice's transfers, one per block. */
export const TRANSFERS = 120;
export const APTOS_OWNER = `0x${'5'.repeat(64)}`;
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const DAY_SECONDS = 86_400;
const KEPT_WITHIN_MS = 60_000;

/**
 * Data for the explorer: an account, a token and a collection on Ethereum, the account on Base too, and pictures on a
 * server.
 */
export interface ExplorerStage extends ConsoleStage {
  /** Requested picture URLs, in order. */
  readonly picturesRequested: readonly string[];
}

/** @param answerPicture the picture server's response; by default a picture of one pixel */
export async function openExplorerStage(
  { placeOf }: Partial<Pick<ConsoleOptions['explorer'], 'placeOf'>> = {},
  answerPicture: RequestListener = (_request, response) => response.writeHead(200).end(PNG),
): Promise<ExplorerStage> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const { database } = scratch;
  const logger = silentLogger();
  const chains = [ETH, BASE, POLYGON];
  const routes = [
    ...createDatasetRoutes({
      database,
      chains,
      datasets,
      onDemand: { waitMs: 200, maxCalls: 100, perKey: 10 },
      clock: systemClock,
      logger,
    }),
    ...createAptosRoutes({ indexed: ['mainnet'] }),
  ];
  const picturesRequested: string[] = [];
  const server = createServer((request, response) => {
    picturesRequested.push(request.url ?? '');
    answerPicture(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  parts.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const egress = parts.adopt(createEgress({ allowPrivate: ['127.0.0.1/32'], timeoutMs: 20_000 }), (one) =>
    one.close(),
  );
  const stage = parts.adopt(
    await openConsoleStage({
      scratch,
      chains,
      registry,
      networks: ['mainnet'],
      explorer: {
        routes,
        pictures: createPictureReader({ egress, ipfsGateways: [], arweaveGateways: [], clock: systemClock }),
        ...(placeOf !== undefined && { placeOf }),
      },
    }),
    (one) => one.close(),
  );
  await seed(stage, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return {
    ...stage,
    picturesRequested,
    ...closeOf(parts),
  };
}

async function seed({ database }: ConsoleStage, pictures: string): Promise<void> {
  const place = { token: TOKEN, transactionIndex: 0, logIndex: 0 };
  await seedTransfers(
    database,
    ETH,
    Array.from({ length: TRANSFERS }, (_, at) => ({
      ...place,
      from: ALICE,
      to: BOB,
      value: BigInt(at) + 1n,
      blockNumber: 1_000 + at,
    })),
  );
  await seedTransfers(database, BASE, [{ ...place, from: BOB, to: ALICE, value: 7n, blockNumber: 50 }]);
  await seedTransactions(database, BASE, [
    { blockNumber: 51, transactionIndex: 0, from: BOB, to: CALLED },
    { blockNumber: 50, transactionIndex: 0, from: SENDER, to: ALICE, columns: { value: '1500000000000000000' } },
  ]);
  for (const [chain, last] of [
    [ETH, 5_000],
    [BASE, 100],
  ] as const)
    for (const dataset of datasets) {
      await seedDatasetCoverage(database, chain, dataset.name, 0, last);
      // Marks them as ingestion does: they can be counted.
      for (const { state } of subjectProjectionsOf([dataset])) await seedBuilt(database, chain.id, state);
    }
  await seedContract(database, TOKEN, { standard: 'erc20', seenAs: 1, name: 'Gold', symbol: 'GLD', decimals: 2 });
  await seedContract(database, APES, {
    standard: 'erc721',
    seenAs: 2,
    name: 'Apes',
    symbol: 'APE',
    decimals: null,
  });
  await seedContract(
    database,
    CALLED,
    { standard: 'erc721', seenAs: 2, name: 'Calls', symbol: 'CALL', decimals: null },
    BASE,
  );
  await seedMoves(
    database,
    ETH,
    ['1', '2', '3'].map((id, at) => ({
      token: APES,
      id,
      from: addressOf(0),
      to: ALICE,
      blockNumber: 2_000 + at,
    })),
  );
  for (const id of ['1', '2'])
    await seedMetadata(
      database,
      ETH,
      { address: APES, id },
      { text: JSON.stringify({ name: `Ape ${id}`, image: `${pictures}/${id}.png` }) },
    );
  const now = Math.floor(Date.now() / 1_000);
  await seedTrades(
    database,
    ETH,
    [1, 2, 3].map((ago) => ({
      token: APES,
      tokenIds: [String(ago)],
      seller: BOB,
      buyer: ALICE,
      price: `${ago}00000000000000000`,
      blockNumber: 2_000 + ago - 1,
      logIndex: 1,
      timestamp: now - ago * DAY_SECONDS,
    })),
  );
  await database.query(
    sql`INSERT INTO aptos_balances (network, owner_address, coin_type_hash, coin_type, amount, last_transaction_version, last_transaction_timestamp)
     VALUES ('mainnet', decode(${APTOS_OWNER.slice(2)}, 'hex'), sha256('0xa::m::C'), '0xa::m::C', 5, 1, to_timestamp(1600000000))`,
  );
  // As if requested before: no test waits for counts.
  const subjects = createSubjectProjections(database);
  for (const chain of [ETH, BASE])
    for (const of of subjectProjectionsOf(datasets))
      for (const subject of [ALICE, TOKEN, APES])
        await waitingAtMost(KEPT_WITHIN_MS, () => subjects.keep(chain, of, subject));
}

/** A contract with the standard and metadata from its events and calls. */
export async function seedContract(
  database: ConsoleStage['database'],
  address: Address,
  facts: {
    readonly standard: string;
    readonly seenAs: number;
    readonly name: string;
    readonly symbol: string;
    readonly decimals: number | null;
  },
  chain: Chain = ETH,
): Promise<void> {
  await storeToken(database, chain.id, address, {
    standard: facts.standard,
    seen_as: facts.seenAs,
    name: facts.name,
    symbol: facts.symbol,
    decimals: facts.decimals,
    facts_status: 'known',
  });
}
