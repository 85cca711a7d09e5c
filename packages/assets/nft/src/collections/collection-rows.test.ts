import { type Address, parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createPartitions, exampleChain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { nftTransfers } from '../transfers/dataset.ts';
import { ERC1155, linesOf } from '../transfers/testing/example-moves.ts';
import { readSeenEvents } from './collection-rows.ts';

const { id: chainId } = exampleChain();
/** Another contract with the same `collection_key`. */
const NAMESAKE = parseAddress(`${ERC1155.slice(0, 10)}${'f'.repeat(24)}${ERC1155.slice(-8)}`);

const scratch = scratchOfFile();

beforeAll(async () => {
  const from = parseAddress(`0x${'a1'.repeat(20)}`);
  await createPartitions(scratch.database, nftTransfers.table.name, chainId);
  await scratch.database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (${chainId}, 7, '\\x01', now())`,
  );
  const lines = linesOf(chainId, 7, [{ token: ERC1155, id: 1n, from, to: from, amount: 1n }]);
  await scratch.database.transaction((transaction) =>
    transaction.copy(nftTransfers.table.name, nftTransfers.table.columns, lines),
  );
});

async function seenOf(address: Address) {
  return readSeenEvents(scratch.database, chainId, address);
}

describe('what a due collection was seen to do', () => {
  it('follows from its transfers, of no contract beside it', async () => {
    expect(await seenOf(ERC1155)).toEqual({ erc721: false, erc1155: true });
    expect(await seenOf(NAMESAKE)).toEqual({ erc721: false, erc1155: false });
  });
});
