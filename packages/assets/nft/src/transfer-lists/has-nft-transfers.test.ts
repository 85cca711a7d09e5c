import { createChainRegistry } from '@chainstead/chains';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { hasNftTransfers } from './nft-transfers-routes.ts';
import { ALICE, BOB, seedMoves } from './testing/seeded-moves.ts';

const registry = createChainRegistry();
const [eth, base] = [registry.get('eth'), registry.get('base')];

const scratch = scratchOfFile();
beforeAll(async () => {
  await seedMoves(scratch.database, eth, [{ blockNumber: 5 }]);
});

test('who sent or received an NFT has transfers, on that chain alone', async () => {
  const { database } = scratch;
  expect(await hasNftTransfers(database, eth, ALICE)).toBe(true);
  expect(await hasNftTransfers(database, eth, BOB)).toBe(true);
  expect(await hasNftTransfers(database, eth, addressOf(9))).toBe(false);
  expect(await hasNftTransfers(database, base, ALICE)).toBe(false);
});
