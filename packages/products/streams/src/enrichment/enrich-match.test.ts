import { type Address, silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { finishBody, renderBody } from '../payload/render-body.ts';
import { receiveWebhook } from '../payload/testing/received-webhook.ts';
import type { AbiItem, NativeBalanceSelector, StreamTrigger } from '../stream.ts';
import { createEnrichMatch, type EnrichMatch } from './enrich-match.ts';
import { type DevnetStage, openDevnetStage } from './testing/devnet-stage.ts';

let scratch: ScratchDatabase;
let stage: DevnetStage;
let pool: UpstreamPool;
beforeAll(async () => {
  [scratch, stage] = await Promise.all([createScratchDatabase(), openDevnetStage()]);
});
afterAll(async () => {
  await stage?.close();
  await scratch?.drop();
});
beforeEach(async () => {
  await scratch.database.query(sql`TRUNCATE tokens`);
  stage.proxy.isDown = false;
  pool = await stage.openPool();
  stage.proxy.calls.clear();
});
afterEach(() => pool.close());

const MINUTE_MS = 60_000;
const signal = new AbortController().signal;

/** @param timeoutMs default: longer than a machine stalls; the enricher waits this long for unavailable nodes */
function enricher(restMs = 0, callsMax = 1_000, timeoutMs = 20_000): EnrichMatch {
  const { chain } = stage;
  return createEnrichMatch({
    database: scratch.database,
    chain,
    pool,
    clock: systemClock,
    logger: silentLogger(),
    timeoutMs,
    restMs,
    callsMax,
  });
}

function stageFunction(name: string): AbiItem {
  const item = stage.abi.find((one) => one.type === 'function' && one.name === name);
  if (item === undefined) throw new Error(`No contract of the stage has a function ${name}`);
  return item as AbiItem;
}

function trigger(name: string, changes: Partial<StreamTrigger> = {}): StreamTrigger {
  return { type: 'erc20transfer', contractAddress: stage.oracle, functionAbi: stageFunction(name), ...changes };
}

async function enriched(
  config: {
    readonly triggers?: readonly StreamTrigger[];
    readonly getNativeBalances?: readonly NativeBalanceSelector[];
  },
  options: {
    readonly waitedMs?: number;
    readonly enrich?: EnrichMatch;
    readonly to?: Address;
    readonly key?: string;
  } = {},
) {
  const { waitedMs = 0, enrich = enricher(), key = 'key' } = options;
  const receipt = await stage.mint(options.to ?? account(1), 1_500_000n);
  const { match, block } = await stage.matchOf(receipt);
  const stream = { triggers: config.triggers ?? null, getNativeBalances: config.getNativeBalances ?? [] };
  const read = () => enrich({ match, stream, key, block, waitedMs }, signal);
  const show = async () => {
    const enriched = await read();
    const named = { id: match.streamId, tag: 'devnet', abi: null };
    const body = renderBody({ stream: named, chain: stage.chain, block, enriched });
    return receiveWebhook(finishBody(body, { confirmed: false, retries: 0 }));
  };
  return { block, read, show };
}

function account(index: number): Address {
  const found = stage.devnet.accounts[index];
  if (found === undefined) throw new Error('The devnet has too few accounts');
  return found;
}

describe('token metadata', () => {
  test('of a contract that nobody asked yet are read and stored for everybody; after that no node is asked', async () => {
    const { show } = await enriched({});
    expect((await show()).erc20Transfers).toMatchObject([
      {
        contract: stage.token,
        tokenName: 'Stage Token',
        tokenSymbol: 'STG',
        tokenDecimals: '6',
        valueWithDecimals: '1.5',
      },
    ]);
    expect(await scratch.database.query(sql`SELECT name, decimals, facts_status FROM tokens`)).toEqual([
      { name: 'Stage Token', decimals: 6, factsStatus: 'known' },
    ]);
    stage.proxy.isDown = true;
    expect((await show()).erc20Transfers).toMatchObject([{ tokenSymbol: 'STG' }]);
  });

  test('that are known do not wait for nodes that rest', async () => {
    const enrich = enricher(60_000);
    const { read, show } = await enriched({}, { enrich });
    await read();
    const asking = await enriched({ triggers: [trigger('stored')] }, { enrich });
    stage.proxy.isDown = true;
    await expect(asking.read()).rejects.toMatchObject({ code: 'NODES_UNANSWERED' });
    expect((await show()).erc20Transfers).toMatchObject([{ tokenSymbol: 'STG' }]);
  });

  test('that no node tells postpone the webhook for a minute; then it goes without them', async () => {
    stage.proxy.isDown = true;
    const enrich = enricher(0, 1_000, 2_000);
    const early = await enriched({}, { enrich, waitedMs: MINUTE_MS - 1 });
    await expect(early.read()).rejects.toMatchObject({ retryable: true });
    const late = await enriched({}, { enrich, waitedMs: MINUTE_MS });
    expect((await late.show()).erc20Transfers).toMatchObject([
      { tokenName: '', tokenSymbol: '', value: '1500000' },
    ]);
  });
});

describe('triggers', () => {
  // Invariant: FAIR-KEYS
  test('without a response hold up no other key', async () => {
    const enrich = enricher(60_000, 1_000, 2_000);
    const triggers = [trigger('stored')];
    const first = await enriched({ triggers }, { enrich, key: 'one' });
    const second = await enriched({ triggers }, { enrich, key: 'other' });
    stage.proxy.isDown = true;
    const failure = (read: () => Promise<unknown>) => read().catch((error: unknown) => Object(error).cause);
    const cause = await failure(first.read);
    expect(await failure(first.read)).toBe(cause);
    const other = await failure(second.read);
    expect(other).toBeInstanceOf(Error);
    expect(other).not.toBe(cause);
  });

  const set = (value: bigint) =>
    stage.devnet.send({ address: stage.oracle, abi: stage.abi, functionName: 'set', args: [value] });

  test('are called as of the block, whatever happened since, in the order they are configured', async () => {
    await set(41n);
    const { show, block } = await enriched({
      triggers: [
        trigger('stored'),
        trigger('twice', { inputs: ['$value'] }),
        trigger('pair', { inputs: ['$to'] }),
        trigger('sum', { inputs: [['1', '$value', '0x10']] }),
      ],
    });
    await set(42n);
    const [transfer] = (await show()).erc20Transfers;
    const balance = await stage.devnet.client.getBalance({
      address: account(1),
      blockNumber: BigInt(block.number),
    });
    expect(transfer.triggers).toEqual([
      { name: 'output1', value: '41' },
      { name: 'doubled', value: '3000000' },
      { name: 'output1', value: balance.toString() },
      { name: 'owner', value: account(1) },
      { name: 'total', value: '1500017' },
    ]);
    for (const [, at] of stage.proxy.calls.get('eth_call')?.slice(-4) ?? [])
      expect(at).toEqual({ blockHash: block.hash });
  });

  test('call from the account that is told or selected', async () => {
    const { show } = await enriched({
      triggers: [
        trigger('caller', { callFrom: account(3) }),
        trigger('caller', { callFrom: '$to' }),
        trigger('caller', { type: 'tx', callFrom: '$fromAddress' }),
      ],
    });
    const { erc20Transfers, txs } = await show();
    expect(erc20Transfers[0].triggers.map(({ value }: { value: string }) => value)).toEqual([
      account(3),
      account(1),
    ]);
    expect(txs[0].triggers).toEqual([{ name: 'output1', value: account(0) }]);
  });

  test('of logs ask only for logs of their topic0, and contracts may be selected', async () => {
    const transfers = {
      type: 'log',
      contractAddress: '$address',
      topic0: 'Transfer(address,address,uint256)',
    } as const;
    const functionAbi: AbiItem = {
      type: 'function',
      name: 'balanceOf',
      stateMutability: 'view',
      inputs: [{ name: 'owner', type: 'address' }],
      outputs: [{ name: 'balance', type: 'uint256' }],
    };
    const { show } = await enriched(
      {
        triggers: [
          { ...transfers, functionAbi, inputs: ['$topic2'] },
          { ...transfers, functionAbi, inputs: ['$topic2'], topic0: 'Approval(address,address,uint256)' },
        ],
      },
      { to: account(7) },
    );
    expect((await show()).logs[0].triggers).toEqual([{ name: 'balance', value: '1500000' }]);
  });

  test('that fail show as errors beside those that work: reverts, foreign contracts, selectors without a value', async () => {
    const { show } = await enriched({
      triggers: [
        trigger('fails'),
        trigger('twice', { inputs: ['7'], contractAddress: account(9) }),
        trigger('twice', { inputs: ['7'], contractAddress: '$operator', type: 'nfttransfer' }),
        trigger('twice', { inputs: ['$data'], type: 'log', callFrom: '$topic3' }),
        trigger('twice', { inputs: ['7'] }),
      ],
    });
    const { erc20Transfers, logs } = await show();
    expect(erc20Transfers[0].triggers).toEqual([
      { name: 'error', value: expect.stringContaining('no luck') },
      { name: 'error', value: 'the contract answered nothing' },
      { name: 'doubled', value: '14' },
    ]);
    expect(logs[0].triggers).toEqual([{ name: 'error', value: '$topic3 has no address in this item' }]);
  });

  test('whose answers would decode to far more than they are show that as an error beside those that work', async () => {
    const { show } = await enriched({
      triggers: [
        trigger('bomb', { contractAddress: stage.bomb }),
        trigger('zeros', { inputs: ['1048600'] }),
        trigger('stored'),
      ],
    });
    const [transfer] = (await show()).erc20Transfers;
    expect(transfer.triggers).toEqual([
      { name: 'error', value: 'The ABI encoding is refused: it decodes to more than 1048576 bytes' },
      { name: 'error', value: 'The contract returned more than 1048576 bytes' },
      { name: 'output1', value: expect.stringMatching(/^\d+$/) },
    ]);
  });

  test('show no more than 4 MiB of results in one webhook, those that come first', async () => {
    const large = trigger('zeros', { inputs: ['1000000'] });
    const { show } = await enriched({ triggers: [large, large, large, large, large, trigger('stored')] });
    const [transfer] = (await show()).erc20Transfers;
    const shown = transfer.triggers.map(({ name }: { name: string }) => name);
    expect(shown).toEqual(['output1', 'output1', 'output1', 'output1', 'error', 'output1']);
    expect(transfer.triggers[4].value).toContain('decodes to more than 194176 bytes');
  });

  test('make no more calls for one webhook than allowed; each trigger that is left out says so once', async () => {
    const config = {
      triggers: [trigger('twice', { inputs: ['1'] }), trigger('twice', { inputs: ['2'] }), trigger('stored')],
      getNativeBalances: [{ type: 'erc20transfer', selectors: ['$from', '$to', '$contract'] }],
    } as const;
    const { show } = await enriched(config, { enrich: enricher(0, 2) });
    const { erc20Transfers, nativeBalances } = await show();
    expect(erc20Transfers[0].triggers).toEqual([
      { name: 'doubled', value: '2' },
      { name: 'doubled', value: '4' },
      { name: 'error', value: 'only 2 calls are made for the webhook of a block' },
    ]);
    expect(nativeBalances).toHaveLength(2);
  });

  test('that no node answers postpone the webhook for an hour; then they show as errors', async () => {
    const config = {
      triggers: [trigger('stored')],
      getNativeBalances: [{ type: 'tx', selectors: ['$fromAddress'] }],
    } as const;
    await (await enriched({})).read();
    stage.proxy.isDown = true;
    const enrich = enricher(0, 1_000, 2_000);
    const early = await enriched(config, { enrich, waitedMs: 60 * MINUTE_MS - 1 });
    await expect(early.read()).rejects.toMatchObject({ retryable: true });
    const late = await enriched(config, { enrich, waitedMs: 60 * MINUTE_MS });
    const body = await late.show();
    expect(body.erc20Transfers[0].triggers).toEqual([{ name: 'error', value: 'no node answered' }]);
    expect(body.nativeBalances).toEqual([]);
  });

  test('ask nothing for a while after no node answered', async () => {
    const enrich = enricher(60_000, 1_000, 2_000);
    const { read } = await enriched({ triggers: [trigger('stored')] }, { enrich });
    stage.proxy.isDown = true;
    await expect(read()).rejects.toThrow();
    stage.proxy.isDown = false;
    stage.proxy.calls.clear();
    await expect(read()).rejects.toMatchObject({ code: 'NODES_UNANSWERED', retryable: true });
    expect(stage.proxy.calls.get('eth_call')).toBeUndefined();
  });
});

describe('native balances', () => {
  test('are those after the block, each address once, in the order of the selectors', async () => {
    const { show, block } = await enriched({
      getNativeBalances: [
        { type: 'erc20transfer', selectors: ['$to', '$contract'] },
        { type: 'tx', selectors: ['$fromAddress', '$toAddress', '$receiptContractAddress'] },
        { type: 'log', selectors: ['$topic1', '$topic2'] },
      ],
    });
    await stage.devnet.mine();
    await stage.devnet.client.setBalance({ address: account(1), value: 1n });
    const { nativeBalances } = await show();
    const zero = `0x${'0'.repeat(40)}`;
    const addresses = nativeBalances.map(({ address }: { address: string }) => address);
    expect(addresses).toEqual([account(1), stage.token, account(0), zero]);
    const at = { blockNumber: BigInt(block.number) };
    for (const { address, balance } of nativeBalances)
      expect(balance).toBe((await stage.devnet.client.getBalance({ address, ...at })).toString());
    expect(nativeBalances[0].balanceWithDecimals).toBe('10000');
    expect(stage.proxy.calls.get('eth_getBalance')).toHaveLength(4);
  });
});
