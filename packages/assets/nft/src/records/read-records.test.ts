import { createChainRegistry } from '@chainstead/chains';
import { addressBytes, sql } from '@chainstead/db';
import { addressOf, storeToken } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import type { RecordKey } from './nft-record.ts';
import { readRecords } from './record-pages.ts';
import { type SeededMove, seedMetadata, seedMoves, transactionOf } from './testing/seeded-tokens.ts';

const eth = createChainRegistry().get('eth');
const [CATS, SWORDS, ALICE, BOB] = [addressOf(0xca75), addressOf(0x5a0d), addressOf(0xa), addressOf(0xb)];

const scratch = scratchOfFile();
beforeEach(() =>
  scratch.database.query(sql`TRUNCATE nft_transfers, tokens, nft_token_metadata, nft_collections`),
);

const keyOf = (address = CATS, tokenId = '1'): RecordKey => ({
  address,
  tokenId,
  owner: ALICE,
  amount: '1',
  blockNumber: 5,
});
const read = (...keys: RecordKey[]) => readRecords(scratch.database, eth, keys, { hasMints: true });

async function see(address: typeof CATS, bits: number): Promise<void> {
  await storeToken(scratch.database, eth.id, address, { seen_as: bits, name: 'Seen', symbol: 'SEEN' });
}

describe('a record', () => {
  test('of a token of which nothing is known is all nulls', async () => {
    expect(await read(keyOf())).toEqual([
      {
        ...keyOf(),
        contractType: null,
        collection: {
          name: null,
          symbol: null,
          collectionLogo: null,
          collectionBannerImage: null,
          collectionCategory: null,
          projectUrl: null,
          wikiUrl: null,
          discordUrl: null,
          telegramUrl: null,
          twitterUsername: null,
          instagramUsername: null,
        },
        possibleSpam: false,
        verified: false,
        mint: null,
        tokenUri: null,
        uriSyncedAt: null,
        document: null,
        documentSyncedAt: null,
        isUnread: true,
        rarity: null,
      },
    ]);
    expect(await read()).toEqual([]);
  });

  test('has what is known of contract and document, in the order of the keys, the same token twice too', async () => {
    await see(CATS, 2);
    await scratch.database.query(
      sql`INSERT INTO nft_collections (token_address, chain_id, status, name, symbol, collection_logo) VALUES (${addressBytes(CATS)}, 1, 'known', 'Cats', 'DOCUMENT', 'https://logo')`,
    );
    await seedMetadata(
      scratch.database,
      eth,
      { address: CATS, id: '1' },
      { uri: 'ipfs://x', text: '{"name":"One"}' },
    );
    const records = await read(keyOf(SWORDS, '7'), keyOf(), keyOf());
    expect(records.map(({ address, tokenId, isUnread }) => [address, tokenId, isUnread])).toEqual([
      [SWORDS, '7', true],
      [CATS, '1', false],
      [CATS, '1', false],
    ]);
    expect(records[1]).toMatchObject({
      contractType: 'ERC721',
      collection: { name: 'Seen', symbol: 'SEEN', collectionLogo: 'https://logo' },
      tokenUri: 'ipfs://x',
      document: { text: '{"name":"One"}' },
      documentSyncedAt: new Date('2024-01-02T03:04:05.678Z'),
      uriSyncedAt: new Date('2024-01-02T03:04:05Z'),
    });
  });

  test.each([
    ['a short document', '{"a":1}', true],
    ['a short data: URI', `data:application/json,${'x'.repeat(1_000)}`, true],
    ['a long data: URI', `data:application/json,${'x'.repeat(8_192)}`, false],
    ['a long one behind spaces', `  DATA:application/json,${'x'.repeat(8_192)}`, false],
    ['a long one that is the document', `\n{"a":"${'x'.repeat(8_192)}"}`, false],
    ['a long other URI', `https://x.example/${'x'.repeat(9_000)}`, true],
  ])('shows %s: %s', async (_name, uri, isShown) => {
    await seedMetadata(scratch.database, eth, { address: CATS, id: '1' }, { uri, text: '{}' });
    expect(await read(keyOf())).toMatchObject([{ tokenUri: isShown ? uri : null, document: { text: '{}' } }]);
  });

  test('leaves documents out once they are more than four MiB together', async () => {
    const text = `{"a":"${'x'.repeat(1_500_000)}"}`;
    for (const id of ['1', '2', '3']) await seedMetadata(scratch.database, eth, { address: CATS, id }, { text });
    const records = await read(keyOf(CATS, '1'), keyOf(CATS, '2'), keyOf(CATS, '3'), keyOf(CATS, '4'));
    expect(records.map(({ document }) => document === null)).toEqual([false, false, true, true]);
  });
});

describe('the mint', () => {
  const ofCats = { token: CATS, id: '1' };

  test.each<[string, SeededMove[], number | null]>([
    ['its only one', [{ ...ofCats, block: 3, to: ALICE }], 3],
    [
      'the newest, after a burn',
      [
        { ...ofCats, block: 3, to: ALICE },
        { ...ofCats, block: 4, from: ALICE },
        { ...ofCats, block: 6, to: BOB },
        { ...ofCats, block: 7, from: BOB, to: ALICE },
      ],
      6,
    ],
    [
      'none of what is burned',
      [
        { ...ofCats, block: 3, to: ALICE },
        { ...ofCats, block: 4, from: ALICE },
      ],
      null,
    ],
    ['none where history begins later', [{ ...ofCats, block: 8, from: BOB, to: ALICE }], null],
    ['none of another id', [{ ...ofCats, id: '2', block: 3, to: ALICE }], null],
    [
      'the first of what moved very often',
      [
        { ...ofCats, block: 3, to: ALICE },
        ...Array.from({ length: 300 }, (_, index) => ({ ...ofCats, block: 10 + index, from: ALICE, to: BOB })),
      ],
      3,
    ],
  ])('of ERC-721 is %s', async (_name, moves, block) => {
    await see(CATS, 2);
    await seedMoves(scratch.database, eth, moves);
    const [record] = await read(keyOf());
    expect(record?.mint ?? null).toEqual(
      block === null ? null : { blockNumber: block, transactionHash: transactionOf(block) },
    );
  });

  test('of ERC-1155 is the first of the id', async () => {
    await see(SWORDS, 4);
    const ofSwords = { token: SWORDS, id: '1', kind: 'erc1155Single' } as const;
    await seedMoves(scratch.database, eth, [
      { ...ofSwords, block: 3, to: ALICE, amount: '5' },
      { ...ofSwords, block: 4, from: ALICE, amount: '5' },
      { ...ofSwords, block: 6, to: BOB },
    ]);
    expect(await read(keyOf(SWORDS))).toMatchObject([{ mint: { blockNumber: 3 } }]);
  });

  test('is not looked for where transfers can’t be read by token', async () => {
    await seedMoves(scratch.database, eth, [{ ...ofCats, block: 3, to: ALICE }]);
    expect(await readRecords(scratch.database, eth, [keyOf()], { hasMints: false })).toMatchObject([
      { mint: null },
    ]);
  });
});
