import { sql } from '@chainstead/db';
import { NFT_TRANSFER_KINDS } from '@chainstead/events/token-events';
import { addressOf } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { type NftTransfersPage, type NftTransfersQuery, nftTransfersPage } from './nft-transfers-page.ts';
import { eth, type NftAnswer, openNftTransfersStage, placesOf } from './testing/nft-transfers-stage.ts';
import { ALICE, APES, BOB, CARDS, movesIn, rangeIn, type SeededMove, seedMoves } from './testing/seeded-moves.ts';

const stage = stageOfFile(openNftTransfersStage);
beforeEach(() => stage.empty());

const WALLET = `/${ALICE}/nft/transfers`;
const COLLECTION = `/nft/${APES}/transfers`;
const TOKEN = `/nft/${APES}/7/transfers`;

/**
 * In chain order: transfers that Alice sends, receives, or sends to herself; batches; ranges that contain id 7; and
 * others' transfers.
 */
function history(blocks: number): SeededMove[] {
  return Array.from({ length: blocks }, (_, index): SeededMove[] => {
    const blockNumber = index + 1;
    const batch = {
      token: CARDS,
      kind: NFT_TRANSFER_KINDS.erc1155Batch,
      blockNumber,
      transactionIndex: 1,
      logIndex: 3,
    };
    switch (index % 5) {
      case 0:
        return [{ blockNumber }, { from: BOB, to: ALICE, blockNumber, logIndex: 1 }];
      case 1:
        return [{ to: ALICE, blockNumber }];
      case 2:
        return ['5', '6', '7'].map((id, item) => ({ ...batch, id, item }));
      case 3:
        return [rangeIn(blockNumber, '1', '60000'), { id: '8', blockNumber, logIndex: 1 }];
      default:
        return [{ from: BOB, to: addressOf(5), blockNumber }];
    }
  }).flat();
}

const placeOf = (move: SeededMove, id = move.id ?? '7'): string =>
  [move.blockNumber, move.transactionIndex ?? 0, move.logIndex ?? 0, id].join('.');

const isOf = {
  [WALLET]: ({ from = ALICE, to = BOB }: SeededMove) => from === ALICE || to === ALICE,
  [COLLECTION]: ({ token = APES }: SeededMove) => token === APES,
  [TOKEN]: ({ token = APES, id = '7', last }: SeededMove) => token === APES && (id === '7' || last !== undefined),
};

describe.each([WALLET, COLLECTION, TOKEN])('pages of %s', (path) => {
  const expectedOf = (moves: readonly SeededMove[]): string[] =>
    moves.filter((move) => isOf[path]?.(move)).map((move) => placeOf(move, path === TOKEN ? '7' : undefined));

  test.each(['ASC', 'DESC'])(
    'stay what they are while blocks arrive and others are reorganised, %s',
    async (order) => {
      const { database } = stage;
      await stage.cover(0, 20);
      const moves = history(20);
      await seedMoves(database, eth, moves);
      const walked: NftAnswer[] = [await stage.get(`${path}?limit=1&order=${order}`)];
      for (let round = 0; ; round++) {
        const { cursor } = walked.at(-1) ?? { cursor: null };
        if (cursor === null) break;
        await seedMoves(database, eth, [{ blockNumber: 21 + round }]);
        if (round === 3) {
          await database.query(sql`DELETE FROM nft_transfers WHERE block_number IN (19, 20)`);
          await seedMoves(database, eth, movesIn(19, 20, { logIndex: 7 }));
        }
        walked.push(await stage.get(`${path}?cursor=${cursor}`));
      }
      const before = expectedOf(moves.filter(({ blockNumber }) => blockNumber <= 18));
      const replaced = expectedOf(movesIn(19, 20, { logIndex: 7 }));
      const found = placesOf(walked);
      expect(new Set(found).size).toBe(found.length);
      if (order === 'ASC') expect(found).toEqual([...before, ...replaced]);
      else expect(found.filter((place) => Number(place.split('.')[0]) <= 18)).toEqual(before.toReversed());
      expect(found.filter((place) => Number(place.split('.')[0]) > 20)).toEqual([]);
    },
  );

  // Invariant: PAGE-KEYSET
  test.each(['ASC', 'DESC'])('walk transfers above the covered blocks, %s', async (order) => {
    await stage.cover(0, 5);
    const moves = history(25);
    await seedMoves(stage.database, eth, moves);
    const expected = expectedOf(moves);
    const found = placesOf(await stage.pages(`${path}?limit=2&order=${order}`));
    expect(found).toEqual(order === 'ASC' ? expected : expected.toReversed());
  });
});

test('blocks and dates bound pages of wallets and collections on both sides, in both orders', async () => {
  await stage.cover(0, 30);
  await seedMoves(stage.database, eth, movesIn(1, 30));
  const wanted = [11, 12, 13, 14].map((block) => `${block}.0.0.7`);
  for (const path of [WALLET, COLLECTION])
    for (const bounds of ['from_block=11&to_block=14', 'from_date=1600000132&to_date=1600000168'])
      for (const order of ['ASC', 'DESC'])
        expect(placesOf(await stage.pages(`${path}?limit=3&order=${order}&${bounds}`))).toEqual(
          order === 'ASC' ? wanted : wanted.toReversed(),
        );
});

describe('some contracts of a wallet', () => {
  /** Reads all rows, searching this many of the wallet's transfers at a time. */
  async function walk(contracts: readonly (typeof APES)[], order: 'ASC' | 'DESC', bounds = {}) {
    const pages: string[][] = [];
    let after: NftTransfersQuery['after'] = null;
    do {
      const page: NftTransfersPage = await nftTransfersPage(
        eth,
        {
          subject: { kind: 'wallet', wallet: ALICE, contracts },
          order,
          limit: 2,
          after,
          fromBlock: null,
          toBlock: null,
          fromDate: null,
          toDate: null,
          pinnedBlock: null,
          ...bounds,
        },
        { scanMax: 10 },
      ).read(stage.database);
      pages.push(page.rows.map((row) => `${row.block_number}`));
      after = page.next?.position ?? null;
    } while (after !== null);
    return pages;
  }

  test.each(['ASC', 'DESC'] as const)(
    'are found however rare they are, on pages that may be short, %s',
    async (order) => {
      await seedMoves(stage.database, eth, [
        ...movesIn(1, 95),
        ...movesIn(96, 98, { token: CARDS, from: BOB, to: ALICE }),
        ...movesIn(20, 20, { token: CARDS, logIndex: 1, to: ALICE }),
      ]);
      const rare = await walk([CARDS], order);
      expect(rare.flat()).toEqual(order === 'ASC' ? ['20', '96', '97', '98'] : ['98', '97', '96', '20']);
      expect(rare.length).toBeGreaterThan(5);
      expect((await walk([APES, CARDS], order)).flat()).toHaveLength(99);
      expect(await walk([addressOf(3)], order)).toHaveLength(10);
      // Transfers outside the bounds are not searched.
      expect(await walk([addressOf(3)], order, { fromBlock: 30, toBlock: 45 })).toHaveLength(2);
    },
  );
});
