/**
 * A program that begins in the middle of a chain. Its responses to the official SDK are right before, at and beyond the indexed
 * blocks, and it does not show unknown values.
 */
import { type Address, parseAddress } from '@chainstead/core';
import { addressOf, compileAssetContracts, type Devnet } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type HoldingsStage, openHoldingsStage } from './holdings-stage.ts';

const CHAIN_ID = 1_337_043;
const PATIENT = { timeout: 60_000, interval: 200 };
/** Wallets that a contract only says it gave something to, and how many in a transaction. */
const REPORTED = 10_000;
const REPORTED_AT_ONCE = 2_500;
const STRANGERS = 0x7_000_000;
const NOBODY = parseAddress(`0x${'7e'.repeat(20)}`);

let stage: HoldingsStage;
let contract: Awaited<ReturnType<typeof compileAssetContracts>>;
let [gold, cats, lying]: Address[] = [];
let [alice, bob]: Address[] = [];
/** The first block that is indexed. */
let begun: number;

type Name = Parameters<typeof contract>[0];

async function send(
  devnet: Devnet,
  name: Name,
  from: Address | undefined,
  call: readonly unknown[],
): Promise<number> {
  const deployed: Readonly<Record<string, Address | undefined>> = {
    DemoToken: gold,
    GalleryCats: cats,
    LyingToken: lying,
  };
  const address = deployed[name];
  const [functionName, ...args] = call;
  if (address === undefined || from === undefined) throw new Error(`There is no ${name}`);
  const given = { address, abi: contract(name).abi, functionName: String(functionName), args, from };
  return Number((await devnet.send(given)).blockNumber);
}

beforeAll(async () => {
  contract = await compileAssetContracts();
  stage = await openHoldingsStage({
    chainId: CHAIN_ID,
    sizes: [],
    async prepare(devnet) {
      [, alice, bob] = devnet.accounts;
      gold = await devnet.deploy(contract('DemoToken'), ['Gold', 'AU', 6]);
      cats = await devnet.deploy(contract('GalleryCats'));
      lying = await devnet.deploy(contract('LyingToken'));
      await send(devnet, 'DemoToken', alice, ['mint', alice, 500n]);
      for (const id of [1n, 2n]) await send(devnet, 'GalleryCats', alice, ['mint', alice, id]);
      begun = Number(await devnet.client.getBlockNumber()) + 1;
      await devnet.mine(3);
      return { START_BLOCK_DEVNET: String(begun) };
    },
  });
});
afterAll(() => stage?.close());

/** What a wallet has of all tokens, as `token units`, by the SDK. */
async function balancesOf(wallet: Address | undefined, toBlock?: number): Promise<string[]> {
  if (wallet === undefined) throw new Error('The devnet has too few accounts');
  const options = { address: wallet, chain: stage.chain, excludeSpam: false };
  const { result } = await stage.EvmApi.token.getWalletTokenBalances({
    ...options,
    ...(toBlock !== undefined && { toBlock }),
  });
  return result.map(({ token, amount }) => `${token?.contractAddress.lowercase} ${amount}`);
}

test('a balance is what the contract says, then what moved since, and never the sum of what is known', async () => {
  const { devnet } = stage;
  const sent = await send(devnet, 'DemoToken', alice, ['transfer', bob, 120n]);
  await stage.settle();
  const { headers } = await stage.ask(`${alice}/erc20`);
  expect([headers.get('x-indexed-complete'), headers.get('x-indexed-from-block')]).toEqual([
    'false',
    String(begun),
  ]);
  await vi.waitFor(async () => {
    const balances = await balancesOf(alice);
    expect([[], [`${gold} 380`]]).toContainEqual(balances);
    expect(balances).toHaveLength(1);
  }, PATIENT);
  const back = await send(devnet, 'DemoToken', bob, ['transfer', alice, 20n]);
  await stage.settle();
  expect(await balancesOf(alice)).toEqual([`${gold} 400`]);
  for (const [block, units] of [
    [back + 1_000, 400],
    [back, 400],
    [sent, 380],
    [sent - 1, 500],
    [begun, 500],
    // Below the indexed blocks, an archive node returns it.
    [begun - 1, 500],
  ] as const)
    expect([block, await balancesOf(alice, block)]).toEqual([block, [`${gold} ${units}`]]);
  expect(await balancesOf(alice, 1)).toEqual([]);
});

test('the coin is told before, at and beyond what is indexed', async () => {
  const { devnet, EvmApi, chain } = stage;
  if (alice === undefined) throw new Error('The devnet has too few accounts');
  const head = Number(await devnet.client.getBlockNumber());
  for (const toBlock of [0, begun - 1, begun, head, head + 1_000]) {
    const reported = await EvmApi.balance.getNativeBalance({ address: alice, chain, toBlock });
    const blockNumber = BigInt(Math.min(toBlock, head));
    const said = await devnet.client.getBalance({ address: alice, blockNumber });
    expect([toBlock, reported.result.balance.wei]).toEqual([toBlock, said.toString()]);
  }
});

test('an ERC-721 that moved once has its new owner, and who gave it has no row', async () => {
  const { devnet, EvmApi, chain } = stage;
  if (cats === undefined || alice === undefined || bob === undefined) throw new Error('There are no cats');
  await send(devnet, 'GalleryCats', alice, ['transferFrom', alice, bob, 1n]);
  await stage.settle();
  const isPartial = z.object({ status: z.literal('SYNCING'), indexed: z.object({ complete: z.literal(false) }) });
  const shownBy = ({
    result,
  }: {
    readonly result: readonly { tokenId: unknown; ownerOf?: { lowercase: string } | undefined }[];
  }) => result.map(({ tokenId, ownerOf }) => `${tokenId} ${ownerOf?.lowercase}`);
  const owners = await EvmApi.nft.getNFTOwners({ address: cats, chain });
  expect(shownBy(owners)).toEqual([`1 ${bob}`]);
  isPartial.parse(owners.toJSON());
  for (const [address, shown] of [
    [alice, []],
    [bob, [`1 ${bob}`]],
  ] as const) {
    const nfts = await EvmApi.nft.getWalletNFTs({ address, chain });
    expect(shownBy(nfts)).toEqual(shown);
    isPartial.parse(nfts.toJSON());
  }
});

test('a contract that only tells of transfers to ten thousand wallets has no holder, and is in no wallet', async () => {
  const { devnet, EvmApi, chain } = stage;
  if (lying === undefined) throw new Error('There is no contract');
  for (let reported = 0; reported < REPORTED; reported += REPORTED_AT_ONCE) {
    const wallets = Array.from({ length: REPORTED_AT_ONCE }, (_, index) =>
      addressOf(STRANGERS + reported + index),
    );
    await send(devnet, 'LyingToken', alice, ['pretend', alice, wallets, 10n ** 18n]);
  }
  await stage.settle();
  for (const place of [0, 1, REPORTED / 2, REPORTED - 1])
    expect(await balancesOf(addressOf(STRANGERS + place))).toEqual([]);
  for (let page = await EvmApi.token.getTokenOwners({ tokenAddress: lying, chain }); ; page = await page.next()) {
    expect(page.result).toEqual([]);
    if (!page.hasNext()) break;
  }
  await vi.waitFor(async () => {
    const { status, body } = await stage.ask(`erc20/${lying}/holders`);
    expect([status, Object(body).totalHolders]).toEqual([200, 0]);
  }, PATIENT);
});

test('of whom nothing is known bare arrays are empty, and not complete', async () => {
  const { status, body, headers } = await stage.ask(`${NOBODY}/erc20`);
  expect([status, body, headers.get('x-indexed-complete')]).toEqual([200, [], 'false']);
  const answer = await stage.EvmApi.token.getWalletTokenBalances({ address: NOBODY, chain: stage.chain });
  expect([answer.result, answer.toJSON()]).toEqual([[], []]);
});
