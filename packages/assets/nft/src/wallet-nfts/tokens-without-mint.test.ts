/** Tokens that had an owner before their first event: once they return, the sum of transfers is zero. */
import { addressOf, seedBuilt } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type SeededMove, seedMoves } from '../records/testing/seeded-tokens.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';
import { eth, openWalletNftsStage, WALLET, type WalletNfts } from './testing/wallet-nfts-stage.ts';

const [LAZY, OTHER] = [addressOf(0x1a2), addressOf(0x07e4)];

const stage = stageOfFile(openWalletNftsStage);
beforeAll(async () => {
  await seedBuilt(stage.scratch.database, eth.id, nftWalletTokens);
});
beforeEach(() => stage.empty());

const move = (id: number, block: number, from: SeededMove['from'], to: SeededMove['to']): SeededMove => ({
  token: LAZY,
  id: String(id),
  block,
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
});
const seed = (...moves: readonly SeededMove[]) => seedMoves(stage.scratch.database, eth, moves);
const linesOf = ({ result }: WalletNfts): string[] =>
  result.map(({ token_id, amount, block_number }) => `${token_id} ×${amount} @${block_number}`);

test('are among a wallet’s NFTs, once each, those last that it only sent to itself', async () => {
  await stage.cover(0, 100);
  await seed(
    move(1, 10, WALLET, OTHER),
    move(1, 20, OTHER, WALLET),
    move(2, 15, WALLET, WALLET),
    move(3, 30, WALLET, OTHER),
    move(4, 40, WALLET, WALLET),
    move(4, 41, WALLET, undefined),
    // Received, sent in a block that is missing here, and received again.
    move(5, 50, OTHER, WALLET),
    move(5, 60, OTHER, WALLET),
  );
  expect(linesOf(await stage.get())).toEqual(['5 ×1 @60', '1 ×1 @20', '2 ×1 @null']);
  const pages = [await stage.get('?limit=1')];
  for (let { cursor } = pages[0] ?? { cursor: null }; cursor !== null; cursor = pages.at(-1)?.cursor ?? null)
    pages.push(await stage.get(`?cursor=${cursor}`));
  expect(pages.flatMap(linesOf)).toEqual(['5 ×1 @60', '1 ×1 @20', '2 ×1 @null']);
});

test('of a range that was minted at once and is not expanded are so too', async () => {
  await stage.cover(0, 100);
  await seed(
    { ...move(0, 5, undefined, WALLET), last: '90000', kind: 'consecutive' },
    move(77, 10, WALLET, OTHER),
    move(77, 20, OTHER, WALLET),
  );
  expect(linesOf(await stage.get())).toEqual(['77 ×1 @20']);
});
