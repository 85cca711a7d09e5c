import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { addressOf, storeToken } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { seedMetadata, seedMoves } from '../records/testing/seeded-tokens.ts';
import { eth, openWalletNftsStage, tokensOf, WALLET } from './testing/wallet-nfts-stage.ts';

const [CATS, SWORDS, SPAM, SENDER] = [addressOf(0xca), addressOf(0x5a), addressOf(0xba), addressOf(0x5e)];

const stage = stageOfFile(() =>
  openWalletNftsStage({
    sendersOf: async (_chain, hashes) => new Map(hashes.map((hash) => [hash, SENDER])),
  }),
);
beforeEach(() => stage.empty());

async function see(address: Address, bits: number, columns: { possible_spam?: boolean; name?: string } = {}) {
  await storeToken(stage.scratch.database, eth.id, address, {
    seen_as: bits,
    name: columns.name ?? null,
    symbol: null,
    possible_spam: columns.possible_spam ?? false,
  });
}

const metadataRows = () =>
  stage.scratch.database.query<{ id: string; status: string; requestedBy: string | null }>(
    sql`SELECT token_id::text AS id, status, requested_by FROM nft_token_metadata WHERE synced_at IS NULL ORDER BY token_id`,
  );

describe('a wallet’s NFTs', () => {
  test('are those of which it holds something, with all that is known of them', async () => {
    await stage.cover(0, 200);
    await see(CATS, 2, { name: 'Cats' });
    await stage.hold(
      { token: CATS, id: '26', block: 150 },
      { token: CATS, id: '27', block: 160, amount: '0' },
      { token: CATS, id: '28', block: 161, amount: '-1' },
    );
    await seedMoves(stage.scratch.database, eth, [{ token: CATS, id: '26', block: 120, to: SENDER }]);
    const text = '{"name":"Cat 26","image":"ipfs://x/1.png","attributes":[]}';
    await seedMetadata(stage.scratch.database, eth, { address: CATS, id: '26' }, { uri: 'ipfs://x', text });
    expect(await stage.get()).toEqual({
      status: 'SYNCED',
      page: 1,
      page_size: 100,
      cursor: null,
      indexed: { from_block: '0', to_block: '200', complete: true },
      result: [
        {
          token_address: CATS,
          token_id: '26',
          amount: '1',
          owner_of: WALLET,
          token_hash: expect.stringMatching(/^[0-9a-f]{32}$/),
          block_number: '150',
          block_number_minted: '120',
          contract_type: 'ERC721',
          name: 'Cats',
          symbol: null,
          token_uri: 'ipfs://x',
          metadata: text,
          normalized_metadata: {
            name: 'Cat 26',
            description: null,
            image: 'ipfs://x/1.png',
            animation_url: null,
            external_link: null,
            external_url: null,
            attributes: [],
          },
          minter_address: SENDER,
          last_token_uri_sync: '2024-01-02T03:04:05.000Z',
          last_metadata_sync: '2024-01-02T03:04:05.678Z',
          possible_spam: false,
          verified_collection: false,
          rarity_rank: null,
          rarity_percentage: null,
          rarity_label: null,
          collection_logo: null,
          collection_banner_image: null,
        },
      ],
    });
  });

  test('have what is asked for beside, and ids as they are asked for', async () => {
    await stage.cover(0, 200);
    await stage.hold({ token: CATS, id: '26', block: 150 }, { token: CATS, id: '0', block: 140 });
    const [first, zero] = (
      await stage.get('?format=hex&media_items=true&normalizeMetadata=false&include_prices=true')
    ).result;
    expect([first?.token_id, zero?.token_id]).toEqual(['0x1a', '0x0']);
    expect(first).toMatchObject({
      media: null,
      last_sale: null,
      floor_price: null,
      floor_price_usd: null,
      floor_price_currency: null,
    });
    expect(first).not.toHaveProperty('normalized_metadata');
    expect(first).not.toHaveProperty('list_price');
    expect(first?.token_hash).toBe((await stage.get()).result[0]?.token_hash);
  });

  test('are of some contracts where those are named, in any spelling, and without spam where that is asked', async () => {
    await stage.cover(0, 200);
    await see(SPAM, 2, { possible_spam: true });
    await stage.hold(
      { token: CATS, id: '1', block: 150 },
      { token: SPAM, id: '2', block: 149 },
      { token: SWORDS, id: '3', block: 148 },
    );
    expect(tokensOf(await stage.get(`?token_addresses%5B%5D=${CATS.toUpperCase().replace('0X', '0x')}`))).toEqual(
      [`${0xca}:1`],
    );
    expect(tokensOf(await stage.get(`?token_addresses=${SWORDS},${SPAM},${SWORDS}`))).toEqual([
      `${0xba}:2`,
      `${0x5a}:3`,
    ]);
    expect(tokensOf(await stage.get('?exclude_spam=true&limit=2'))).toEqual([`${0xca}:1`, `${0x5a}:3`]);
    expect((await stage.get()).result.map(({ possible_spam }) => possible_spam)).toEqual([false, true, false]);
  });

  test('say why they may not be all, and leave amounts of ERC-1155 out until they are', async () => {
    await stage.cover(100, 200);
    await see(CATS, 2);
    await see(SWORDS, 4);
    await stage.hold({ token: CATS, id: '1', block: 150 }, { token: SWORDS, id: '3', block: 148, amount: '7' });
    const partial = await stage.get();
    expect(partial).toMatchObject({
      status: 'SYNCING',
      status_message: 'Reading the history of this wallet has begun',
      indexed: { from_block: '100', to_block: '200', complete: false },
    });
    expect(tokensOf(partial)).toEqual([`${0xca}:1`]);
    await stage.cover(0, 200);
    const whole = await stage.get();
    expect(whole).not.toHaveProperty('status_message');
    expect(whole.result.map(({ contract_type, amount }) => [contract_type, amount])).toEqual([
      ['ERC721', '1'],
      ['ERC1155', '7'],
    ]);
  });

  test('of a wallet that nobody has seen are none', async () => {
    await stage.cover(0, 200);
    await stage.hold();
    expect(await stage.get()).toMatchObject({ status: 'SYNCED', result: [], cursor: null });
  });

  test('have what is unread of a page read: the first twenty, in nobody’s name, no spam', async () => {
    await stage.cover(0, 200);
    await see(SPAM, 2, { possible_spam: true });
    await stage.hold(
      { token: SPAM, id: '1000', block: 199 },
      ...Array.from({ length: 25 }, (_, index) => ({ token: CATS, id: String(index), block: 190 - index })),
    );
    await seedMetadata(stage.scratch.database, eth, { address: CATS, id: '0' }, { text: '{}' });
    await stage.get();
    const expected = Array.from({ length: 20 }, (_, index) => ({
      id: String(index + 1),
      status: 'pending',
      requestedBy: null,
    }));
    expect(await metadataRows()).toEqual(expected);
    await stage.get();
    expect((await metadataRows()).length).toBe(24);
  });

  test('name the sender of the transaction that minted what is no ERC-1155', async () => {
    await stage.cover(0, 200);
    await see(SWORDS, 4);
    await stage.hold({ token: SWORDS, id: '3', block: 148 }, { token: CATS, id: '1', block: 140 });
    await seedMoves(stage.scratch.database, eth, [
      { token: SWORDS, id: '3', block: 120, to: WALLET, kind: 'erc1155Single' },
      { token: CATS, id: '1', block: 121, to: WALLET },
    ]);
    expect((await stage.get()).result.map((row) => [row.block_number_minted, row.minter_address])).toEqual([
      ['120', null],
      ['121', SENDER],
    ]);
  });
});
