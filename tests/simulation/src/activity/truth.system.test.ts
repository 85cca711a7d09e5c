/** The story's own truth: it accounts for every native token that the node reports of any account. */
import { createSeededRandom } from '@chainstead/testkit';
import { keccak256 } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reorganise } from '../story/branches.ts';
import { fetchTogether } from '../story/node.ts';
import { STORY_CHAINS } from '../story/story-chain.ts';
import { categoryOf } from './category.ts';
import { mineActions } from './play.ts';
import { createChainReading, isInHistory, isListed, type TransactionTruth } from './truth.ts';
import { type ActivityWorld, anybody, startWorld } from './world.ts';

const BLOCKS = 60;
const ALLOTTED = 10_000n * 10n ** 18n;

let world: ActivityWorld;
const random = createSeededRandom('the truth of transactions');
beforeAll(async () => {
  const [chain] = STORY_CHAINS;
  if (chain === undefined) throw new Error('There is no chain for a story');
  world = await startWorld(chain, random);
});
afterAll(() => world?.devnet.stop());

test('what moved and what was paid for gas add up to everybody’s balance, also after a reorganisation', async () => {
  const reading = createChainReading(world.devnet.url);
  for (let block = 0; block < BLOCKS; block++) await mineActions(world, random, random.integer(1, 8));
  await expectBalances(await reading.read());
  await reorganise(world, 20);
  for (let block = 0; block < 10; block++) await mineActions(world, random, 4);
  const truths = await reading.read();
  await expectBalances(truths);
  for (const { address } of world.senders) {
    const [nonce] = await fetchTogether(world.devnet.url, [
      { method: 'eth_getTransactionCount', params: [address, 'latest'] },
    ]);
    // An authorization of one's own takes a nonce, too.
    expect(truths.filter(({ from }) => from === address).length).toBeLessThanOrEqual(Number(nonce));
  }
});

test('it has transactions of all types, some that fail, make contracts, and move coins inside', async () => {
  const truths = await createChainReading(world.devnet.url).read();
  const types = await fetchTogether(
    world.devnet.url,
    truths.map(({ record }) => ({ method: 'eth_getTransactionByHash', params: [record.hash] })),
  );
  expect(new Set(types.map((found) => (found as { type: string }).type))).toEqual(
    new Set(['0x0', '0x1', '0x2', '0x4']),
  );
  expect(truths.some(({ record }) => record.receipt_status === '0')).toBe(true);
  expect(truths.some(({ created }) => created !== null)).toBe(true);
  expect(truths.some(({ native }) => native.some(({ isInternal }) => isInternal))).toBe(true);
  expect(truths.filter((one) => isListed(one, world.contracts.playground)).length).toBeGreaterThan(20);
}, 60_000);

test('it was much of what a transaction can be to somebody', async () => {
  const truths = await createChainReading(world.devnet.url).read();
  const reported = anybody(world).flatMap((account) =>
    truths.filter((one) => isInHistory(one, account)).map((one) => categoryOf(one, account)),
  );
  expect(reported).toEqual(
    expect.arrayContaining([
      ...[
        'send',
        'receive',
        'token send',
        'token receive',
        'airdrop',
        'approve',
        'revoke',
        'contract interaction',
      ],
    ]),
  );
}, 60_000);

test('what a branch left unmined takes no transaction’s place', async () => {
  const [sender] = world.senders;
  if (sender === undefined) throw new Error('There are no senders');
  const { account, address } = sender;
  const [count] = await fetchTogether(world.devnet.url, [
    { method: 'eth_getTransactionCount', params: [address, 'latest'] },
  ]);
  const left = await account.signTransaction({
    ...{ type: 'legacy', chainId: world.devnet.chainId, nonce: Number(count) + 1 },
    ...{ gas: 21_000n, gasPrice: 10n ** 12n, to: address, value: 0n },
  });
  await fetchTogether(world.devnet.url, [{ method: 'eth_sendRawTransaction', params: [left] }]);
  await mineActions(world, random, 15);
  await mineActions(world, random, 15);
  const truths = await createChainReading(world.devnet.url).read();
  const sent = truths.filter(({ from, record }) => from === address && Number(record.nonce) > Number(count));
  expect(sent.length).toBeGreaterThan(0);
  expect(sent.map(({ record }) => record.hash)).not.toContain(keccak256(left));
}, 60_000);

async function expectBalances(truths: readonly TransactionTruth[]): Promise<void> {
  const balances = new Map<string, bigint>(world.devnet.accounts.map((account) => [account, ALLOTTED]));
  const add = (account: string, value: bigint): void => {
    balances.set(account, (balances.get(account) ?? 0n) + value);
  };
  for (const { from, native, record } of truths) {
    add(from, -BigInt(String(record.receipt_gas_used)) * BigInt(String(record.gas_price)));
    for (const move of native) {
      add(move.from, -move.value);
      add(move.to, move.value);
    }
  }
  const accounts = anybody(world);
  const reported = await fetchTogether(
    world.devnet.url,
    accounts.map((account) => ({ method: 'eth_getBalance', params: [account, 'latest'] })),
  );
  for (const [place, account] of accounts.entries())
    expect(balances.get(account) ?? 0n, account).toBe(BigInt(String(reported[place])));
}
