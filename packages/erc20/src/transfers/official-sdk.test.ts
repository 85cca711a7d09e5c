import { createChainRegistry } from '@chainstead/chains';
import { type ApiServer, serveApi } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import {
  addressOf,
  createScratchDatabase,
  type Moralis,
  type ScratchDatabase,
  startOfficialSdk,
  timestampOf,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SeededTransfer, seedCoverage, seedTransfers } from './testing/seeded-wallets.ts';
import { walletTokenTransfersRoute } from './wallet-token-transfers-route.ts';

const eth = createChainRegistry().get('eth');
const WALLET = addressOf(0xa11ce);
const [USDC, DAI, WETH] = [addressOf(0xc0), addressOf(0xda), addressOf(0x2e)];
const ROWS = 25;

let scratch: ScratchDatabase;
let server: ApiServer;
let EvmApi: Moralis['EvmApi'];

beforeAll(async () => {
  scratch = await createScratchDatabase();
  const api = await exampleApi(scratch.database, [walletTokenTransfersRoute]);
  server = await serveApi(api, { host: '127.0.0.1', port: 0 });
  await seedTransfers(
    scratch.database,
    eth,
    Array.from({ length: ROWS }, (_, index) => transfer(index)),
  );
  await seedCoverage(scratch.database, eth, 0, 100);
  ({ EvmApi } = (await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url })).Moralis);
});
afterAll(async () => {
  await server.close();
  await scratch.drop();
});

function transfer(index: number): SeededTransfer {
  return {
    from: index % 2 === 0 ? WALLET : addressOf(1),
    to: index % 2 === 0 ? addressOf(2) : WALLET,
    token: [USDC, DAI, WETH][index % 3] ?? USDC,
    value: BigInt(index) * 10n ** 20n,
    blockNumber: index,
    transactionIndex: 0,
    logIndex: 1,
  };
}

type Options = Parameters<typeof EvmApi.token.getWalletTokenTransfers>[0];

/** Every page, by `hasNext()` and `next()`. */
async function readAll(options: Omit<Options, 'address'>): Promise<{ blocks: string[]; pages: number }> {
  let page = await EvmApi.token.getWalletTokenTransfers({ address: WALLET, ...options });
  const blocks: string[] = [];
  for (let pages = 1; ; pages++) {
    blocks.push(...page.result.map((row) => row.blockNumber.toString()));
    if (!page.hasNext()) return { blocks, pages };
    page = await page.next();
  }
}

const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => String(from + index));

describe('the official SDK', () => {
  test('reads pages to the end with hexadecimal chain ids, in both orders', async () => {
    expect(await readAll({ chain: '0x1', limit: 7 })).toEqual({ blocks: numbers(0, 24).toReversed(), pages: 4 });
    expect(await readAll({ chain: '0x1', limit: 5, order: 'ASC' })).toEqual({ blocks: numbers(0, 24), pages: 5 });
    expect(await readAll({})).toEqual({ blocks: numbers(0, 24).toReversed(), pages: 1 });
  });

  test('filters by an array of contracts over several pages', async () => {
    const expected = numbers(0, 24).filter((block) => Number(block) % 3 !== 2);
    expect(await readAll({ chain: '0x1', limit: 4, order: 'ASC', contractAddresses: [USDC, DAI] })).toMatchObject({
      blocks: expected,
    });
  });

  test('bounds by dates and blocks', async () => {
    const [fromDate, toDate] = [5, 9].map((block) => new Date(timestampOf(block) * 1000));
    expect(await readAll({ chain: '0x1', limit: 2, order: 'ASC', fromDate, toDate } as Options)).toMatchObject({
      blocks: numbers(5, 9),
    });
    expect(await readAll({ chain: '0x1', order: 'ASC', fromBlock: 3, toBlock: 6 })).toMatchObject({
      blocks: numbers(3, 6),
    });
  });

  test('deserialises the rows', async () => {
    const { result, raw } = await EvmApi.token.getWalletTokenTransfers({
      address: WALLET,
      chain: '0x1',
      limit: 1,
    });
    expect(result[0]?.toJSON()).toMatchObject({
      fromAddress: WALLET,
      toAddress: addressOf(2),
      address: USDC,
      blockNumber: '24',
      value: (24n * 10n ** 20n).toString(),
      transactionIndex: 0,
      logIndex: 1,
      possibleSpam: false,
    });
    expect(raw.page).toBe(0);
  });

  test('is told of its mistakes', async () => {
    await expect(EvmApi.token.getWalletTokenTransfers({ address: WALLET, chain: '0x1', limit: 0 })).rejects.toThrow(
      /400.*limit/,
    );
  });
});
