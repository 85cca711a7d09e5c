import { type Address, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { MALFORMED_REASONS, NFT_TRANSFER_KINDS } from '@chainstead/events/token-events';
import {
  ALICE,
  BOB,
  batchLog,
  CAROL,
  COLLECTION,
  consecutiveLog,
  erc20Log,
  erc721Log,
  placed,
  punkAssignLog,
  rawBatchLog,
  singleLog,
  UINT256_MAX,
  unindexedLog,
} from '@chainstead/events/token-events/testing';
import type { Dataset } from '@chainstead/sync/datasets';
import { createPartitions, exampleChain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { nftTransfers } from './dataset.ts';
import { nftMalformedLogs } from './malformed-logs.ts';

const PUNKS = `0x${'b4'.repeat(20)}` as Address;
const KITTIES = `0x${'06'.repeat(20)}` as Address;
const context = {
  chain: exampleChain({ id: 137, cryptoPunks: PUNKS, unindexedNfts: [KITTIES] }),
  timestampOf: () => 1_700_000_000,
};

const scratch = scratchOfFile();

beforeAll(async () => {
  await createPartitions(scratch.database, 'nft_transfers', context.chain.id);
});

async function stored<Row>(dataset: Dataset<Row>, logs: readonly Log[]): Promise<Record<string, unknown>[]> {
  const { database } = scratch;
  const lines = dataset.decode(logs, context).map((row) => dataset.table.copyLine(row));
  await database.transaction((transaction) => transaction.copy(dataset.table.name, dataset.table.columns, lines));
  const columns = dataset.table.columns.map((column) => (column.endsWith('_key') ? `${column}::text` : column));
  const rows = await database.query(
    sql`SELECT ${rawSql(columns.join())} FROM ${rawSql(dataset.table.name)} ORDER BY ${rawSql(dataset.table.key.join())}`,
  );
  await database.query(sql`DELETE FROM ${rawSql(dataset.table.name)}`);
  return rows;
}

const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex');

describe('nft-transfers', () => {
  it('stores every column of what moved, numbers of any size', async () => {
    const log = singleLog(ALICE, BOB, UINT256_MAX, UINT256_MAX - 1n);
    const [row] = await stored(nftTransfers, [log]);
    expect(row).toEqual({
      collectionKey: addressKey(COLLECTION),
      chainId: 137,
      blockNumber: 7,
      transactionIndex: 1,
      logIndex: 2,
      item: 0,
      kind: NFT_TRANSFER_KINDS.erc1155Single,
      tokenAddress: bytes(COLLECTION),
      tokenId: UINT256_MAX.toString(),
      lastTokenId: null,
      fromAddress: bytes(ALICE),
      toAddress: bytes(BOB),
      amount: (UINT256_MAX - 1n).toString(),
      operator: bytes(CAROL),
      transactionHash: bytes(log.transactionHash),
    });
  });

  it('names each contract once for each standard that its events show', () => {
    const rows = nftTransfers.decode(
      [
        erc721Log(ALICE, BOB, 1n),
        erc721Log(ALICE, BOB, 2n),
        singleLog(ALICE, BOB, 1n, 1n),
        batchLog(ALICE, BOB, [1n], [1n]),
        consecutiveLog(1n, 2n),
        punkAssignLog(PUNKS, ALICE, 1n),
        unindexedLog(ALICE, BOB, 1n, KITTIES),
        erc20Log(ALICE, BOB, 1n, ZERO_ADDRESS),
      ],
      context,
    );
    expect([...(nftTransfers.contracts?.(rows) ?? [])]).toEqual([
      { address: COLLECTION, standard: 'erc721' },
      { address: COLLECTION, standard: 'erc1155' },
      { address: PUNKS, standard: 'erc721' },
      { address: KITTIES, standard: 'erc721' },
    ]);
  });
});

describe('nft-malformed-logs', () => {
  it('stores what could not be read, with its reason, and nothing else', async () => {
    const logs = [
      placed(rawBatchLog(1n), { logIndex: 1 }),
      placed(batchLog(ALICE, BOB, [1n], []), { logIndex: 2 }),
      placed(consecutiveLog(2n, 1n), { logIndex: 3 }),
      placed(erc721Log(ALICE, BOB, 1n), { logIndex: 4 }),
    ];
    const common = {
      tokenAddress: bytes(COLLECTION),
      chainId: 137,
      blockNumber: 7,
      transactionIndex: 1,
      transactionHash: bytes(`0x${'55'.repeat(32)}`),
    };
    expect(await stored(nftMalformedLogs, logs)).toEqual([
      { ...common, logIndex: 1, reason: MALFORMED_REASONS.undecodable },
      { ...common, logIndex: 2, reason: MALFORMED_REASONS.lengthsDiffer },
      { ...common, logIndex: 3, reason: MALFORMED_REASONS.emptyRange },
    ]);
    expect(nftTransfers.decode(logs, context)).toHaveLength(1);
  });
});
