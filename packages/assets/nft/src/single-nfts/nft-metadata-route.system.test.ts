import { addressBytes, sql } from '@chainstead/db';
import { stageOfTest } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import { addressOf, exampleCollection, textOf, wordOf } from '../collections/testing/example-contracts.ts';
import { ask, eth, NOTHING_SAID, openMetadataStage } from '../collections/testing/metadata-api.ts';
import { seedMoves } from '../records/testing/seeded-tokens.ts';
import { cover } from '../wallet-nfts/testing/seeded-wallet.ts';

const [CATS, SWORDS, ALICE, BOB, CAROL] = [addressOf(1), addressOf(2), addressOf(3), addressOf(4), addressOf(5)];
const TEXT = '{"name":"Cat","attributes":["Blue"]}';
const URI = `data:application/json,${TEXT}`;

const stage = stageOfTest(openMetadataStage);

/** A collection in which ids below ten have a document. */
function addCats(): void {
  const uris = Object.fromEntries(
    Array.from({ length: 10 }, (_, id) => [`0xc87b56dd${wordOf(BigInt(id)).slice(2)}`, () => textOf(URI)]),
  );
  stage.contracts.set(CATS, exampleCollection('erc721', { name: 'Cats', symbol: 'CAT' }, uris));
}

const { base_uri: _, ...NOTHING_OF_COLLECTION } = NOTHING_SAID;

describe('one NFT', () => {
  test('is told of with its owner, its mint and its document, which is read while the request waits', async () => {
    addCats();
    await stage.see(CATS, 2);
    await cover(stage.scratch.database, eth, 5, 100);
    await seedMoves(stage.scratch.database, eth, [
      { token: CATS, id: '7', block: 10, to: ALICE },
      { token: CATS, id: '7', block: 11, from: ALICE, to: BOB },
      { token: CATS, id: '7', block: 12, from: BOB, to: BOB },
      { token: CATS, id: '8', block: 13, to: CAROL },
    ]);
    await stage.startWorker();
    const api = await stage.openApi();
    const { status, body } = await ask(api, `${CATS}/0x7?include_prices=true&format=hex`);
    expect([status, body]).toEqual([
      200,
      {
        token_address: CATS,
        token_id: '0x7',
        amount: '1',
        owner_of: BOB,
        token_hash: expect.stringMatching(/^[0-9a-f]{32}$/),
        block_number: '11',
        block_number_minted: '10',
        contract_type: 'ERC721',
        name: 'Seen',
        symbol: 'CAT',
        token_uri: URI,
        metadata: TEXT,
        normalized_metadata: expect.objectContaining({
          name: 'Cat',
          attributes: [expect.objectContaining({ value: 'Blue' })],
        }),
        minter_address: null,
        last_token_uri_sync: expect.stringMatching(/^20\d\d-.*Z$/),
        last_metadata_sync: expect.stringMatching(/^20\d\d-.*Z$/),
        possible_spam: false,
        verified_collection: false,
        rarity_rank: null,
        rarity_percentage: null,
        rarity_label: null,
        last_sale: null,
        floor_price: null,
        floor_price_usd: null,
        floor_price_currency: null,
        list_price: { listed: false, price: null, price_currency: null, price_usd: null, marketplace: null },
        ...NOTHING_OF_COLLECTION,
        indexed: { from_block: '5', to_block: '100', complete: false },
      },
    ]);
    const plain = (await ask(api, `${CATS}/7?normalizeMetadata=false&media_items=true`)).body;
    expect(plain).toMatchObject({ token_id: '7', media: null });
    for (const absent of ['normalized_metadata', 'last_sale', 'floor_price', 'list_price'])
      expect(plain).not.toHaveProperty(absent);
  });

  test('that was burned has no owner, one that was minted in a range the range’s', async () => {
    addCats();
    await seedMoves(stage.scratch.database, eth, [
      { token: CATS, id: '1', block: 10, to: ALICE },
      { token: CATS, id: '1', block: 11, from: ALICE },
      { token: CATS, id: '2', last: '9', block: 12, to: CAROL, kind: 'consecutive' },
      { token: CATS, id: '5', block: 13, from: CAROL, to: BOB },
      { token: CATS, id: '6', block: 14, from: CAROL, to: CAROL },
      { token: CATS, id: '11', block: 15, from: BOB, to: BOB },
    ]);
    await stage.startWorker();
    const api = await stage.openApi();
    const reported = async (id: string) => {
      const { status, body } = await ask(api, `${CATS}/${id}`);
      return [status, body.owner_of, body.amount, body.block_number];
    };
    expect(await reported('1')).toEqual([200, null, null, '11']);
    expect(await reported('4')).toEqual([200, CAROL, '1', '12']);
    expect(await reported('5')).toEqual([200, BOB, '1', '13']);
    // A transfer to oneself does not change the holder.
    expect(await reported('6')).toEqual([200, CAROL, '1', '12']);
    expect(await reported('11')).toEqual([200, BOB, '1', null]);
  });

  test('of ERC-1155 is of the holder with the newest receipt, whose amount is known with the whole history', async () => {
    stage.contracts.set(SWORDS, exampleCollection('erc1155', { name: 'Swords' }, { default: textOf('') }));
    await stage.see(SWORDS, 4);
    const sword = { token: SWORDS, id: '1', kind: 'erc1155Batch' } as const;
    await seedMoves(stage.scratch.database, eth, [
      { ...sword, block: 10, to: ALICE, amount: '10' },
      { ...sword, block: 11, from: ALICE, to: BOB, amount: '4' },
      { ...sword, block: 12, from: ALICE, to: CAROL, amount: '2' },
      { ...sword, block: 13, from: CAROL, amount: '2' },
      { ...sword, id: '2', block: 14, to: CAROL, amount: '2' },
      { ...sword, id: '2', block: 15, from: CAROL, amount: '2' },
    ]);
    await stage.startWorker();
    const api = await stage.openApi();
    const reported = async (id: string) => {
      const { status, body } = await ask(api, `${SWORDS}/${id}`);
      return [
        status,
        body.owner_of,
        body.amount,
        body.block_number,
        body.block_number_minted,
        body.minter_address,
      ];
    };
    await cover(stage.scratch.database, eth, 5, 100);
    expect(await reported('1')).toEqual([200, BOB, null, '11', '10', null]);
    await cover(stage.scratch.database, eth, 0, 100);
    expect(await reported('1')).toEqual([200, BOB, '4', '11', '10', null]);
    expect(await reported('2')).toEqual([200, null, null, '15', '14', null]);
  });

  test('that never moved exists where its contract names a document for it', async () => {
    addCats();
    await stage.startWorker();
    const api = await stage.openApi();
    const { status, body } = await ask(api, `${CATS}/3`);
    expect([
      status,
      body.owner_of,
      body.amount,
      body.block_number,
      body.block_number_minted,
      body.metadata,
    ]).toEqual([200, null, null, null, null, TEXT]);
    expect(await ask(api, `${CATS}/77`)).toMatchObject({
      status: 404,
      body: { message: `Token 77 of ${CATS} was not found`, details: { status: 'not-found' } },
    });
  });

  test('that nobody has read yet is being read', async () => {
    addCats();
    await stage.see(CATS, 2);
    const api = await stage.openApi(0);
    expect(await ask(api, `${CATS}/3`)).toMatchObject({ status: 404, body: { details: { status: 'indexing' } } });
    expect(
      await stage.scratch.database.query(sql`SELECT token_id::text, status FROM nft_token_metadata`),
    ).toEqual([{ tokenId: '3', status: 'pending' }]);
  });

  test('is not what the name of an operation that is not served means', async () => {
    const api = await stage.openApi(0);
    expect(await ask(api, `${CATS}/lowestprice`)).toMatchObject({
      status: 501,
      body: { details: { operation: 'getNFTLowestPrice' } },
    });
  });
});

test('that a key which waits for much already asks for a token that never moved is refused', async () => {
  addCats();
  await stage.see(CATS, 2);
  const api = await stage.openApi(0);
  for (const id of ['1', '2']) expect((await ask(api, `${CATS}/${id}`)).status).toBe(404);
  expect((await ask(api, `${CATS}/3`)).status).toBe(429);
  await seedMoves(stage.scratch.database, eth, [{ token: CATS, id: '4', block: 10, to: ALICE }]);
  expect(await ask(api, `${CATS}/4`)).toMatchObject({ status: 200, body: { owner_of: ALICE, metadata: null } });
  expect(
    await stage.scratch.database.query(
      sql`SELECT FROM nft_token_metadata WHERE token_address = ${addressBytes(CATS)}`,
    ),
  ).toHaveLength(2);
});
