/** Proofs of a real node's state, with correct and lying upstreams. */

import { type Address, createMetricsRegistry, parseHash, silentLogger, ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { stateAt } from '@chainstead/node-reads';
import type { StateBlock } from '@chainstead/node-reads/requests';
import type { UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import {
  addressOf,
  compileDemoContracts,
  createScratchDatabase,
  DEMO_TOKEN_ABI,
  type Devnet,
  exampleChain,
  type NodeProxyOptions,
  type ScratchDatabase,
  startDevnet,
  startNodeProxy,
} from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { balanceOfCall, readBalance } from '../calls/fetch-balances.ts';
import { type SeededTransfer, seedTransfers } from '../transfers/testing/seeded-wallets.ts';
import { type BalanceProof, createBalanceProver } from './prove-balance.ts';
import { compileStorageTokens, STORAGE_TOKEN_ABI, type StorageTokenName } from './testing/storage-tokens.ts';

const CHAIN_ID = 1_337_041;
const chain = exampleChain({ id: CHAIN_ID, key: 'devnet' });
const { signal } = new AbortController();
const closing: (() => Promise<void>)[] = [];

type TokenName = StorageTokenName | 'DemoToken';

let devnet: Devnet;
let scratch: ScratchDatabase;
const tokens = new Map<TokenName, Address>();
let block: StateBlock;
let [wallet, friend, stranger]: Address[] = [];

beforeAll(async () => {
  [devnet, scratch] = await Promise.all([startDevnet({ chainId: CHAIN_ID }), createScratchDatabase()]);
  const [demo, storage] = await Promise.all([compileDemoContracts(), compileStorageTokens()]);
  tokens.set('DemoToken', await devnet.deploy(demo.DemoToken, ['Demo Dollar', 'DUSD', 6]));
  for (const [name, contract] of storage) tokens.set(name, await devnet.deploy(contract));
  [, wallet, friend, stranger] = devnet.accounts;
  const transfers: SeededTransfer[] = [];
  for (const token of tokens.values())
    for (const [to, value] of [
      [wallet, 1_500_000n],
      [friend, 70_000_000n],
      [stranger, 12_345_678n],
    ] as const) {
      if (to === undefined) throw new Error('the devnet has too few accounts');
      const receipt = await devnet.send({
        address: token,
        abi: DEMO_TOKEN_ABI,
        functionName: 'mint',
        args: [to, value],
      });
      const place = { blockNumber: Number(receipt.blockNumber), transactionIndex: 0, logIndex: 0 };
      transfers.push({ from: ZERO_ADDRESS, to, token, value, ...place });
    }
  await seedTransfers(scratch.database, chain, transfers);
  block = await newestBlock();
});
afterAll(async () => {
  for (const close of closing) await close();
  await devnet?.stop();
  await scratch?.drop();
});
beforeEach(() => scratch.database.query(sql`DELETE FROM erc20_balance_slots`));

async function newestBlock(): Promise<StateBlock> {
  const { number, hash, timestamp } = await devnet.client.getBlock();
  return { number: Number(number), hash: parseHash(hash), timestamp: Number(timestamp) };
}

function tokenOf(name: TokenName): Address {
  const token = tokens.get(name);
  if (token === undefined) throw new Error(`${name} is not deployed`);
  return token;
}

/** A pool of the node itself, or of the proxies in front of it. */
async function poolOf(...urls: string[]): Promise<UpstreamPool> {
  const pool = createUpstreamPool({
    chain,
    upstreams: urls.map((url) => ({ url })),
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
    limits: { rounds: 2, deadlineMs: 20_000, backOffMaxMs: 100 },
  });
  await pool.start();
  closing.push(() => pool.close());
  return pool;
}

async function proxy(options: NodeProxyOptions): Promise<{ readonly url: string; readonly name: string }> {
  const server = await startNodeProxy(devnet.url, options);
  closing.push(() => server.close());
  return { url: server.url, name: new URL(server.url).host };
}

/** Proves the balance returned by the pool's upstreams, using the same pool or another one. */
async function prove(
  pool: UpstreamPool,
  token: Address | null,
  { of = wallet, at = block, by = pool }: { of?: Address | undefined; at?: StateBlock; by?: UpstreamPool } = {},
): Promise<BalanceProof & { readonly shown: bigint | null }> {
  if (of === undefined) throw new Error('the devnet has too few accounts');
  const state = stateAt(pool, chain, at);
  const shown =
    token === null
      ? await state.balance(of, signal)
      : readBalance(await state.call(token, balanceOfCall(of), signal));
  const prover = createBalanceProver({ database: scratch.database, pool: by, chain, block: at });
  return {
    shown,
    ...(await prover.proveBalance({ wallet: of, token, shown, reportedBy: state.upstream }, signal)),
  };
}

/** An upstream that returns a balance increased by one for one wallet and token. */
function lieOf(holder: Address | undefined, token: Address): NodeProxyOptions {
  return {
    alter({ method, params }, result) {
      if (method !== 'eth_call') return result;
      const call = JSON.stringify(params[0]).toLowerCase();
      if (!call.includes(balanceOfCall(holder ?? ZERO_ADDRESS)) || !call.includes(token)) return result;
      return `0x${(BigInt(String(result)) + 1n).toString(16).padStart(64, '0')}`;
    },
  };
}

describe('balances that are proven', () => {
  it.each<[TokenName, { layout: string; slot: string }]>([
    ['DemoToken', { layout: 'solidity', slot: '0' }],
    ['DeepToken', { layout: 'solidity', slot: '77' }],
    ['VyperToken', { layout: 'vyper', slot: '3' }],
    [
      'NamespacedToken',
      {
        layout: 'solidity',
        slot: BigInt('0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00').toString(),
      },
    ],
    ['SoladyToken', { layout: 'solady', slot: String(0x87a211a2) }],
    ['FreezingToken', { layout: 'solidity', slot: '0' }],
  ])('those of %s, whose place in storage is found and kept', async (name, place) => {
    const pool = await poolOf(devnet.url);
    expect(await prove(pool, tokenOf(name))).toEqual({
      shown: 1_500_000n,
      verdict: 'proven',
      proof: 'storage',
      proven: 1_500_000n,
      reason: null,
      detail: null,
      isSeconded: false,
    });
    const kept = await scratch.database.query(
      sql`SELECT layout, slot::text AS slot, cardinality(checked_by) AS holders, checked_block AS block FROM erc20_balance_slots`,
    );
    expect(kept).toEqual([{ ...place, holders: 2, block: block.number }]);
    // Stored by now: no search.
    expect(await prove(pool, tokenOf(name), { of: friend })).toMatchObject({
      verdict: 'proven',
      proven: 70_000_000n,
    });
    expect(await prove(pool, tokenOf(name), { of: addressOf(0xdead1) })).toMatchObject({
      verdict: 'proven',
      proven: 0n,
    });
  });

  it("the chain's own coin, of accounts that are there and that are not", async () => {
    const pool = await poolOf(devnet.url);
    const proven = await prove(pool, null);
    expect(proven).toMatchObject({ verdict: 'proven', proof: 'account', proven: proven.shown });
    expect(proven.shown).toBeGreaterThan(10n ** 18n);
    expect(await prove(pool, null, { of: addressOf(0xdead2) })).toMatchObject({ verdict: 'proven', proven: 0n });
  });

  it('those of an earlier block, at which they were others', async () => {
    const pool = await poolOf(devnet.url);
    const token = tokenOf('VyperToken');
    const mint = { address: token, abi: DEMO_TOKEN_ABI, functionName: 'mint' };
    await devnet.send({ ...mint, args: [wallet, 500_000n] });
    const later = await newestBlock();
    expect(await prove(pool, token)).toMatchObject({ verdict: 'proven', proven: 1_500_000n });
    expect(await prove(pool, token, { at: later })).toMatchObject({ verdict: 'proven', proven: 2_000_000n });
  });
});

describe('an upstream that lies', () => {
  it('of one balance is named, though it gives the proof itself', async () => {
    const token = tokenOf('DemoToken');
    const liar = await proxy(lieOf(wallet, token));
    const alone = await prove(await poolOf(liar.url), token);
    const proven = { verdict: 'contradicted', proof: 'storage', proven: 1_500_000n };
    expect(alone).toMatchObject({ ...proven, shown: 1_500_001n, isSeconded: false });
    expect(alone.detail).toContain(`${liar.name} says 1500001`);
    // Other balances are returned correctly.
    expect(await prove(await poolOf(liar.url), token, { of: friend })).toMatchObject({ verdict: 'proven' });
  });

  it('of one balance is named with another who tells the truth', async () => {
    const token = tokenOf('VyperToken');
    const liar = await proxy(lieOf(wallet, token));
    const both = await poolOf(liar.url, devnet.url);
    const proof = await prove(await poolOf(liar.url), token, { by: both });
    expect(proof).toMatchObject({
      verdict: 'contradicted',
      proof: 'storage',
      proven: 1_500_000n,
      isSeconded: true,
    });
    expect(proof.detail).toMatch(
      new RegExp(`^${liar.name} says 1500001, ${new URL(devnet.url).host} says 1500000, `),
    );
    expect(blamedIn(both)).toEqual([liar.name]);
  });

  it('of one balance is found among several, where nobody knows who told it', async () => {
    const token = tokenOf('VyperToken');
    const [liar, honest] = [await proxy(lieOf(wallet, token)), await proxy({})];
    const all = await poolOf(honest.url, devnet.url, liar.url);
    const prover = createBalanceProver({ database: scratch.database, pool: all, chain, block });
    const requested = { wallet: wallet ?? ZERO_ADDRESS, token, shown: 1_500_001n, reportedBy: null };
    const proof = await prover.proveBalance(requested, signal);
    expect(proof).toMatchObject({ verdict: 'contradicted', proven: 1_500_000n, isSeconded: true });
    expect(proof.detail).toMatch(new RegExp(`^${liar.name} says 1500001, `));
    expect(blamedIn(all)).toEqual([liar.name]);
  });

  it("of the chain's own coin is named", async () => {
    const liar = await proxy({
      alter: ({ method }, result) =>
        method === 'eth_getBalance' ? `0x${(BigInt(String(result)) + 1n).toString(16)}` : result,
    });
    const proof = await prove(await poolOf(liar.url), null);
    expect(proof).toMatchObject({ verdict: 'contradicted', proof: 'account' });
    expect(proof.proven).toBe((proof.shown ?? 0n) - 1n);
    expect(proof.detail).toContain(liar.name);
  });

  it.each<[string, (proof: ProofAnswer) => ProofAnswer, string]>([
    ['a balance', (proof) => ({ ...proof, balance: '0x1' }), 'contradiction'],
    [
      'a value of storage',
      (proof) => ({ ...proof, storageProof: proof.storageProof.map((one) => ({ ...one, value: '0x1' })) }),
      'contradiction',
    ],
    [
      'a node',
      (proof) => ({ ...proof, accountProof: proof.accountProof.map((node) => `${node.slice(0, -2)}81`) }),
      'other-root',
    ],
    [
      'nodes that are left out',
      (proof) => ({ ...proof, accountProof: proof.accountProof.slice(0, -1) }),
      'too-short',
    ],
  ])('in %s of its proof proves nothing, until another is asked', async (_, alter, fault) => {
    const liar = await proxy({
      alter: ({ method }, result) => (method === 'eth_getProof' ? alter(result as ProofAnswer) : result),
    });
    const alone = await prove(await poolOf(liar.url), tokenOf('DemoToken'));
    expect(alone).toMatchObject({ verdict: 'unproven', reason: 'no-proof-from-upstream', proven: null });
    expect(alone.detail).toMatch(new RegExp(`^${liar.name}: .*\\(${fault}\\)`));
    expect(await prove(await poolOf(liar.url, devnet.url), tokenOf('DemoToken'))).toMatchObject({
      verdict: 'proven',
    });
  });

  it('in the header has no state root to prove anything under', async () => {
    const liar = await proxy({
      alter: ({ method }, result) =>
        method === 'eth_getBlockByHash' ? { ...(result as object), stateRoot: `0x${'11'.repeat(32)}` } : result,
    });
    expect(await prove(await poolOf(liar.url), null)).toMatchObject({
      verdict: 'unproven',
      reason: 'header-not-verifiable',
    });
    expect(await prove(await poolOf(liar.url, devnet.url), null)).toMatchObject({ verdict: 'proven' });
  });
});

/** Returns the names of upstreams that were blamed for wrong balances. */
function blamedIn(pool: UpstreamPool): readonly string[] {
  return pool.status().flatMap(({ name, faults }) => ((faults['balance-mismatch'] ?? 0) > 0 ? [name] : []));
}

interface ProofAnswer {
  readonly accountProof: readonly string[];
  readonly storageProof: readonly object[];
}

describe('balances that are not proven say why', () => {
  it('as none of the known places holds them', async () => {
    expect(await prove(await poolOf(devnet.url), tokenOf('HiddenToken'))).toMatchObject({
      verdict: 'unproven',
      reason: 'no-slot-found',
      proven: null,
    });
    const kept = await scratch.database.query(sql`SELECT layout, slot FROM erc20_balance_slots`);
    expect(kept).toEqual([{ layout: null, slot: null }]);
  });

  it('as they change without transfers', async () => {
    const token = tokenOf('RebasingToken');
    await devnet.send({ address: token, abi: STORAGE_TOKEN_ABI, functionName: 'rebase', args: [110n] });
    const at = await newestBlock();
    const pool = await poolOf(devnet.url);
    expect(await prove(pool, token, { at })).toMatchObject({
      shown: 1_650_000n,
      verdict: 'unproven',
      reason: 'no-slot-found',
    });
    await scratch.database.query(
      sql`INSERT INTO erc20_token_classes (token, chain_id, class, since_block) VALUES (decode(${token.slice(2)}, 'hex'), ${CHAIN_ID}, 'live', ${at.number})`,
    );
    expect(await prove(pool, token, { at })).toMatchObject({ verdict: 'unproven', reason: 'rebasing' });
    // The location was found before the rebase; its storage no longer equals the balance.
    await scratch.database.query(sql`DELETE FROM erc20_balance_slots`);
    expect(await prove(pool, token)).toMatchObject({ verdict: 'proven', proven: 1_500_000n });
    expect(await prove(pool, token, { at })).toMatchObject({ verdict: 'unproven', reason: 'rebasing' });
  });

  it('as a flag stands beside them', async () => {
    const token = tokenOf('FreezingToken');
    await devnet.send({ address: token, abi: STORAGE_TOKEN_ABI, functionName: 'freeze', args: [wallet] });
    const at = await newestBlock();
    expect(await prove(await poolOf(devnet.url), token, { at })).toMatchObject({
      shown: 1_500_000n,
      verdict: 'unproven',
      reason: 'not-plain',
    });
  });

  it('as two upstreams agree on what storage does not have', async () => {
    const token = tokenOf('DemoToken');
    const [one, other] = [await proxy(lieOf(wallet, token)), await proxy(lieOf(wallet, token))];
    const proof = await prove(await poolOf(one.url, other.url), token);
    expect(proof).toMatchObject({ verdict: 'unproven', reason: 'not-plain', proven: null });
    expect(proof.detail).toContain(one.name);
    expect(proof.detail).toContain(other.name);
  });

  it('as the contract tells none', async () => {
    expect(await prove(await poolOf(devnet.url), addressOf(0xbad))).toMatchObject({
      shown: null,
      verdict: 'unproven',
      reason: 'no-balance',
    });
  });

  it('as no upstream gives proofs', async () => {
    const { url } = await proxy({
      errors: { eth_getProof: { code: -32_601, message: 'the method does not exist' } },
    });
    expect(await prove(await poolOf(url), null)).toMatchObject({
      verdict: 'unproven',
      reason: 'no-proof-from-upstream',
    });
  });

  it('as no upstream keeps the state that far back', async () => {
    for (const message of [
      'missing trie node 0xab (path )',
      'distance to target block exceeds maximum proof window',
    ]) {
      const { url } = await proxy({ errors: { eth_getProof: { code: -32_000, message } } });
      expect(await prove(await poolOf(url), null)).toMatchObject({ verdict: 'unproven', reason: 'not-archived' });
    }
  });

  it('as the block is not there any more', async () => {
    const at = { ...block, hash: parseHash(`0x${'22'.repeat(32)}`) };
    const pool = await poolOf(devnet.url);
    const prover = createBalanceProver({ database: scratch.database, pool, chain, block: at });
    const coin = { wallet: wallet ?? ZERO_ADDRESS, token: null, shown: 1n, reportedBy: null };
    expect(await prover.proveBalance(coin, signal)).toMatchObject({
      verdict: 'unproven',
      reason: 'no-proof-from-upstream',
    });
  });
});

describe('where a token keeps balances', () => {
  it('is looked for again when what was kept does not fit', async () => {
    const token = tokenOf('DemoToken');
    await scratch.database.query(
      sql`INSERT INTO erc20_balance_slots (token, chain_id, layout, slot, checked_by, checked_block)
       VALUES (decode(${token.slice(2)}, 'hex'), ${CHAIN_ID}, 'vyper', 5, ARRAY[decode(${friend?.slice(2) ?? null}, 'hex'), decode(${stranger?.slice(2) ?? null}, 'hex')], 1)`,
    );
    const pool = await poolOf(devnet.url);
    expect(await prove(pool, token)).toMatchObject({ verdict: 'proven', proven: 1_500_000n });
    const [kept] = await scratch.database.query(sql`SELECT layout, slot::text AS slot FROM erc20_balance_slots`);
    expect(kept).toEqual({ layout: 'solidity', slot: '0' });
  });

  it('is not kept as unknown for what one upstream said of the only holder that is known', async () => {
    const token = tokenOf('DemoToken');
    await scratch.database.query(
      sql`DELETE FROM erc20_transfer_sides WHERE account <> ${Buffer.from((wallet ?? '').slice(2), 'hex')}`,
    );
    const liar = await proxy(lieOf(wallet, token));
    const pool = await poolOf(liar.url);
    expect(await prove(pool, token)).toMatchObject({ verdict: 'unproven', reason: 'no-slot-found' });
    expect(await scratch.database.query(sql`SELECT * FROM erc20_balance_slots`)).toEqual([]);
    expect(await prove(await poolOf(devnet.url), token)).toMatchObject({ verdict: 'proven', proven: 1_500_000n });
  });
});
