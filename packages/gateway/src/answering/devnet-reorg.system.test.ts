import { createScratchDatabase, startDevnet } from '@chainstead/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { startProcess } from './testing/answering-stage.ts';

const PATIENCE = { timeout: 30_000 };
const CHAIN_ID = 7_100_000;

test('on a real node, a reorganisation changes recent answers and no final one', async () => {
  const scratch = await createScratchDatabase();
  onTestFinished(() => scratch.drop());
  const devnet = await startDevnet({ chainId: CHAIN_ID });
  onTestFinished(() => devnet.stop());
  await devnet.mine(40);
  const upstreams = { chainId: CHAIN_ID, urls: [devnet.url, `${devnet.url}/`], finalizedTag: false, reorgDepthMax: 20 };
  const process = await startProcess({ database: scratch.database, ...upstreams });
  const block = async (number: number): Promise<unknown> =>
    process.ask('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]);
  expect(await process.ask('eth_blockNumber')).toBe('0x28');
  const [final, recent] = [await block(5), await block(39)];
  await devnet.reorg(10);
  await expect.poll(async () => JSON.stringify(await block(39)), PATIENCE).not.toBe(JSON.stringify(recent));
  expect(await block(5)).toEqual(final);
  expect(process.outcome('eth_getBlockByNumber', ['0x5', false])).toMatchObject({ cached: true });
  expect(await process.ask('eth_blockNumber')).toBe('0x28');
  await devnet.mine(1);
  await expect.poll(() => process.ask('eth_blockNumber'), PATIENCE).toBe('0x29');
});
