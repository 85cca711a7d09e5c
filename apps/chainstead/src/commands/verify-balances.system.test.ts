/** `chainstead verify-balances` over a real node, whose balances an upstream reports correctly or not. */

import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { erc20Transfers } from '@chainstead/erc20/requests';
import {
  compileDemoContracts,
  createScratchDatabase,
  DEMO_TOKEN_ABI,
  type Devnet,
  type ScratchDatabase,
  seedBuilt,
  startDevnet,
  startNodeProxy,
} from '@chainstead/testkit';
import { stringToHex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandOutcome, runCaptured } from '../testing/captured-context.ts';
import { jsonLines } from '../testing/command-stage.ts';

const CHAIN_ID = 1_337_042;

let devnet: Devnet;
let scratch: ScratchDatabase;
let [token, oldToken, wallet, friend, stranger]: Address[] = [];

beforeAll(async () => {
  [devnet, scratch] = await Promise.all([startDevnet({ chainId: CHAIN_ID }), createScratchDatabase()]);
  const contracts = await compileDemoContracts();
  [, wallet, friend, stranger] = devnet.accounts;
  token = await devnet.deploy(contracts.DemoToken, ['Demo Dollar', 'DUSD', 6]);
  oldToken = await devnet.deploy(contracts.Bytes32Token, [
    stringToHex('Old Maker', { size: 32 }),
    stringToHex('OMKR', { size: 32 }),
  ]);
  for (const address of [token, oldToken])
    for (const [to, value] of [
      [wallet, 1_500_000n],
      [friend, 70_000_000n],
      [stranger, 12_345_678n],
    ])
      await devnet.send({ address, abi: DEMO_TOKEN_ABI, functionName: 'mint', args: [to, value] });
});
afterAll(async () => {
  await devnet?.stop();
  await scratch?.drop();
});

/** As if a client had requested the wallet's balances, and its contract had returned this. */
async function showAsApi(of: Address | undefined, balance: bigint): Promise<void> {
  const state = erc20Transfers.projections?.find(({ name }) => name === 'erc20-wallet-tokens');
  if (state === undefined || of === undefined || wallet === undefined)
    throw new Error('Nothing is kept of wallets');
  const [subject, address] = [wallet, of].map((one) => Buffer.from(one.slice(2), 'hex'));
  await seedBuilt(scratch.database, CHAIN_ID, state);
  await scratch.database.query(
    sql`INSERT INTO subject_projections (chain_id, state, subject) VALUES (${CHAIN_ID}, ${state.name}, ${subject ?? null}) ON CONFLICT DO NOTHING`,
  );
  await scratch.database.query(
    sql`INSERT INTO erc20_wallet_tokens (wallet, chain_id, token, total, moved_block, anchor_block, anchor_value, anchored_at)
     SELECT ${subject ?? null}, ${CHAIN_ID}, ${address ?? null}, 1500000, max(last_block), max(last_block), ${balance.toString()}, now() FROM sync_ranges WHERE chain_id = ${CHAIN_ID}
     ON CONFLICT (wallet, chain_id, token) DO UPDATE SET anchor_value = excluded.anchor_value`,
  );
}

function run(args: readonly string[], url: string = devnet.url): Promise<CommandOutcome> {
  return runCaptured([...args], {
    DATABASE_URL: scratch.url,
    CHAINS: 'devnet',
    CHAIN_ID_DEVNET: `${CHAIN_ID}`,
    RPC_URLS_DEVNET: url,
  });
}

const verify = (...more: string[]): string[] => [
  'verify-balances',
  '--chain',
  'devnet',
  '--wallet',
  wallet ?? '',
  ...more,
];

describe('chainstead verify-balances', () => {
  it('has nothing to check before anything is indexed', async () => {
    const { exitCode, stderr } = await run(verify());
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('devnet has no indexed blocks yet')]);
  });

  it("proves a wallet's coin and tokens at the newest indexed block", async () => {
    const head = String(await devnet.client.getBlockNumber());
    await devnet.mine(200);
    const backfill = await run(['backfill', '--chain', 'devnet', '--from', '0', '--to', head]);
    expect([backfill.exitCode, backfill.stderr]).toEqual([0, '']);
    const { exitCode, stdout, stderr } = await run(verify());
    expect([exitCode, stderr]).toEqual([0, '']);
    const [report] = jsonLines(stdout);
    const proven = {
      shown: null,
      reported: '1500000',
      proven: '1500000',
      verdict: 'proven',
      proof: 'storage',
      reason: null,
      detail: null,
    };
    expect(report).toMatchObject({
      work: 'verify-balances',
      chain: 'devnet',
      wallet,
      block: Number(head),
      balances: [{ token: null, symbol: 'ETH', verdict: 'proven', proof: 'account' }, proven, proven],
      refused: [],
      complete: true,
    });
    const balances = report?.balances as { token: string | null }[];
    expect(balances.map((balance) => balance.token)).toEqual([null, oldToken, token]);
  });

  it('proves the tokens that are named, of whatever wallet', async () => {
    const { exitCode, stdout } = await run([
      ...['verify-balances', '--chain', 'devnet', '--wallet', `0x${'9'.repeat(40)}`],
      ...['--token', token ?? '', oldToken ?? ''],
    ]);
    expect(exitCode).toBe(0);
    const zero = { shown: null, reported: '0', proven: '0', verdict: 'proven' };
    expect(jsonLines(stdout)[0]?.balances).toMatchObject([
      zero,
      { ...zero, token },
      { ...zero, token: oldToken },
    ]);
  });

  it('ends with 1 and names the upstream that told a wrong balance', async () => {
    const liar = await startNodeProxy(devnet.url, {
      alter({ method, params }, result) {
        const isRequested = method === 'eth_call' && JSON.stringify(params[0]).includes(`${token}`);
        return isRequested && JSON.stringify(params[0]).includes(`${wallet?.slice(2)}`)
          ? `0x${'0'.repeat(63)}7`
          : result;
      },
    });
    try {
      const { exitCode, stdout, stderr } = await run(verify(), liar.url);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`${new URL(liar.url).host} says 7`);
      expect(jsonLines(stdout)[0]?.balances).toMatchObject([
        { verdict: 'proven' },
        { verdict: 'proven', token: oldToken },
        { verdict: 'contradicted', token, reported: '7', proven: '1500000', told_by: new URL(liar.url).host },
      ]);
    } finally {
      await liar.close();
    }
  });

  it('judges what the API shows', async () => {
    await showAsApi(token, 1_500_000n);
    const right = await run(verify('--token', token ?? ''));
    expect([right.exitCode, right.stderr]).toEqual([0, '']);
    const says = { token, reported: '1500000', proven: '1500000' };
    expect(jsonLines(right.stdout)[0]?.balances).toMatchObject([
      {},
      { ...says, shown: '1500000', verdict: 'proven' },
    ]);
    await showAsApi(token, 1_500_009n);
    const wrong = await run(verify('--token', token ?? ''));
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stderr).toContain(`${token}`);
    expect(wrong.stderr).toContain('the API shows 1500009');
    expect(jsonLines(wrong.stdout)[0]?.balances).toMatchObject([
      {},
      { ...says, shown: '1500009', verdict: 'contradicted' },
    ]);
    await scratch.database.query(sql`TRUNCATE erc20_wallet_tokens, subject_projections`);
  });

  it('says why where there are no proofs, and ends with 0', async () => {
    const errors = { eth_getProof: { code: -32_601, message: 'the method does not exist' } };
    const shy = await startNodeProxy(devnet.url, { errors });
    try {
      const { exitCode, stdout } = await run(verify('--token', token ?? ''), shy.url);
      expect(exitCode).toBe(0);
      const why = { verdict: 'unproven', proven: null, reason: 'no-proof-from-upstream' };
      expect(jsonLines(stdout)[0]?.balances).toMatchObject([why, { ...why, token, reported: '1500000' }]);
    } finally {
      await shy.close();
    }
  });

  it.each([
    [['--wallet', '0x12'], '--wallet 0x12 is not an address'],
    [['--wallet', `0x${'1'.repeat(40)}`, '--token', 'dai'], '--token dai is not an address'],
  ])('ends with 2 for %j', async (args, message) => {
    const { exitCode, stderr } = await run(['verify-balances', '--chain', 'devnet', ...args]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
