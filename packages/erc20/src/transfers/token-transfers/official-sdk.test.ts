import { type ApiServer, serveApi } from '@chainstead/http';
import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { type Moralis, startOfficialSdk, timestampOf } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eth, FRIEND, transfersIn, USDC, WALLET } from '../testing/example-wallet.ts';
import { seedCoverage, seedTransfers } from '../testing/seeded-wallets.ts';
import { openTokenStage, type TokenStage } from './testing/token-stage.ts';

let stage: TokenStage;
let server: ApiServer;
let EvmApi: Moralis['EvmApi'];

beforeAll(async () => {
  stage = await openTokenStage();
  server = await serveApi(stage.api, { host: '127.0.0.1', port: 0 });
  await seedTransfers(stage.database, eth, transfersIn(1, 25));
  await seedCoverage(stage.database, eth, 0, 100);
  ({ EvmApi } = (await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url })).Moralis);
});
afterAll(async () => {
  await server.close();
  await stage.close();
});

const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => String(from + index));

describe('the official SDK', () => {
  test('reads all pages of a token, with everything null that can be', async () => {
    let page = await EvmApi.token.getTokenTransfers({ address: USDC, chain: '0x1', limit: 7, order: 'ASC' });
    expect(page.result[0]?.toJSON()).toMatchObject({
      address: USDC,
      fromAddress: WALLET,
      toAddress: FRIEND,
      blockNumber: '1',
      value: '1500000',
      logIndex: 0,
    });
    const { result, indexed } = await stage.get('?limit=7&order=ASC');
    expect(page.toJSON()).toMatchObject({ page: 0, page_size: 7, result, indexed });
    const blocks: string[] = [];
    for (;;) {
      blocks.push(...page.result.map((row) => row.blockNumber.toString()));
      if (!page.hasNext()) break;
      page = await page.next();
    }
    expect(blocks).toEqual(numbers(1, 25));
  });

  test('bounds them by blocks and dates', async () => {
    const read = async (bounds: object): Promise<string[]> => {
      const { result } = await EvmApi.token.getTokenTransfers({ address: USDC, chain: '0x1', order: 'ASC', ...bounds });
      return result.map((row) => row.blockNumber.toString());
    };
    expect(await read({ fromBlock: 3, toBlock: 6 })).toEqual(numbers(3, 6));
    const [fromDate, toDate] = [5, 9].map((block) => new Date(timestampOf(block) * 1000));
    expect(await read({ fromDate, toDate })).toEqual(numbers(5, 9));
  });

  test('reads how many there are', async () => {
    const stats = await EvmApi.token.getTokenStats({ address: USDC, chain: '0x1' });
    expect(stats.result.toJSON()).toEqual({ transfers: { total: '25' } });
    expect(stats.raw).toEqual({
      transfers: { total: '25' },
      indexed: { from_block: '0', to_block: '100', complete: true },
    });
  });
});
