import type { Address } from '@chainstead/core';
import { addressBytes } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { seedTrades } from '../trades/testing/seeded-trades.ts';
import { addressOf } from './testing/example-contracts.ts';
import { ask, eth, type MetadataStage, openMetadataStage } from './testing/metadata-api.ts';

const CATS = addressOf(1);

let stage: MetadataStage;
beforeEach(async () => {
  stage = await openMetadataStage();
});
afterEach(() => stage.close());

const metadata = async (api: ApiApp, address: Address = CATS, query = '') => ask(api, `${address}/metadata${query}`);

describe('what is known', () => {
  async function know(columns: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const all = {
      token_address: addressBytes(CATS),
      chain_id: eth.id,
      status: 'known',
      synced_at: new Date(),
      ...columns,
    };
    const names = Object.keys(all);
    await stage.scratch.database.query(
      `INSERT INTO nft_collections (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
      Object.values(all),
    );
  }
  async function list(source: string, columns: Readonly<Record<string, unknown>>): Promise<void> {
    const all = { token_address: addressBytes(CATS), chain_id: eth.id, source, ...columns };
    const names = Object.keys(all);
    await stage.scratch.database.query(
      `INSERT INTO collection_list_entries (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
      Object.values(all),
    );
  }

  test('of a collection that only a list names is answered, and it is read', async () => {
    await list('a', { name: 'Listed', possible_spam: true });
    expect(await metadata(await stage.openApi(0))).toMatchObject({
      status: 200,
      body: { name: 'Listed', contract_type: null, synced_at: null, possible_spam: true, verified_collection: false },
    });
    expect(await stage.scratch.database.query('SELECT status FROM nft_collections')).toEqual([{ status: 'pending' }]);
  });

  test('carries prices that are not known as null, where they are asked for', async () => {
    await know();
    const api = await stage.openApi(0);
    expect((await metadata(api)).body).not.toHaveProperty('floor_price');
    expect((await metadata(api, CATS, '?include_prices=true')).body).toMatchObject({
      floor_price: null,
      floor_price_usd: null,
      floor_price_currency: null,
      last_sale: null,
    });
  });

  test('carries the last sale where it is asked for and known', async () => {
    await know();
    const timestamp = Math.floor(Date.now() / 1_000) - 100 * 86_400;
    await seedTrades(stage.scratch.database, eth, [
      { token: CATS, blockNumber: 1, timestamp: timestamp - 60, price: '5' },
      { token: CATS, blockNumber: 2, timestamp, price: '7000000000000000000' },
    ]);
    expect((await metadata(await stage.openApi(0), CATS, '?include_prices=true')).body.last_sale).toMatchObject({
      token_address: CATS,
      price: '7000000000000000000',
      price_formatted: '7',
      payment_token: { token_symbol: 'ETH' },
    });
  });

  test('of another chain stays out', async () => {
    await know();
    const api = await stage.openApi(0);
    expect((await metadata(api, CATS, '?chain=0x1')).status).toBe(200);
    expect((await metadata(api, CATS, '?chain=base')).status).toBe(404);
  });

  test.each([
    ['0x123/metadata', 'address'],
    [`${CATS}/metadata?chain=nonsense`, 'chain'],
    [`${CATS}/metadata?include_prices=maybe`, 'include_prices'],
    [`${CATS}/1/metadata/resync?mode=soon`, 'mode'],
    [`${CATS}/1/metadata/resync?flag=x`, 'flag'],
    [`${CATS}/-1/metadata/resync`, 'TokenId'],
    [`${CATS}/${2n ** 256n}/metadata/resync`, 'TokenId'],
  ])('%s is a 400 that names what is wrong', async (path, parameter) => {
    const { status, body } = await ask(await stage.openApi(0), path);
    expect(status).toBe(400);
    expect(body.message).toContain(parameter);
  });
});
