import { type Address, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { type ApiApp, indexedSchema } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { openStateStage } from '@chainstead/node-reads/testing';
import { createOnDemandBackfill } from '@chainstead/pages/on-demand';
import { createChainSync, createSubjectProjections, createSyncMetrics } from '@chainstead/sync/ingest';
import { compileSolidity, type Devnet } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { z } from '@hono/zod-openapi';
import { maxUint256 } from 'viem';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { allowancesReader } from './allowances.ts';
import { erc20Approvals } from './dataset.ts';
import { approvalView } from './wallet-approvals-response.ts';
import { createWalletApprovalsRoute } from './wallet-approvals-route.ts';

/** `transferFrom` reduces a finite allowance without an event, like OpenZeppelin's tokens. */
const TOKEN = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
contract ApprovedToken is ERC20 {
  constructor() ERC20("Approved", "APP") { _mint(msg.sender, 1000 ether); }
}
contract MuteToken {
  event Approval(address indexed owner, address indexed spender, uint256 value);
  function approve(address spender, uint256 value) external { emit Approval(msg.sender, spender, value); }
}`;

const answerSchema = z.strictObject({
  page: z.int().min(1),
  page_size: z.int().min(1),
  limit: z.int().min(1),
  cursor: z.string().nullable(),
  indexed: indexedSchema,
  result: z.array(approvalView.schema),
});

type Answer = z.infer<typeof answerSchema>;

const soon = { timeout: 30_000, interval: 100 };
const ending = new AbortController();

const stage = stageOfFile(() =>
  openStateStage({
    chain: { pollIntervalMs: 50, finalizedTag: false, confirmations: 1, multicall3: null },
  }),
);
let syncing: Promise<void>;
let api: ApiApp;
let token: { readonly address: Address; readonly abi: Parameters<Devnet['send']>[0]['abi'] };
let mute: typeof token;

/** A real node, followed by the sync engine and read by the worker; tested through the API. */
beforeAll(async () => {
  const { chain, pool, nodeReads, devnet } = stage;
  const { database } = stage.scratch;
  const contracts = await compileSolidity({ 'ApprovedToken.sol': TOKEN });
  const deployed = async (name: string): Promise<typeof token> => {
    const contract = contracts.get(name);
    if (contract === undefined) throw new Error(`${name} was not compiled`);
    return { address: await devnet.deploy(contract), abi: contract.abi };
  };
  token = await deployed('ApprovedToken');
  mute = await deployed('MuteToken');
  syncing = createChainSync({
    ...{ chain, pool, database, datasets: [erc20Approvals], logger: silentLogger(), clock: systemClock },
    metrics: createSyncMetrics(createMetricsRegistry()),
    settings: {
      startBlock: 0,
      endBlock: null,
      proof: 'record',
      backfillProof: 'none',
      backfillOrder: 'newest-first',
      verifyBlocksPerSecond: 0,
    },
  }).run(ending.signal);
  await stage.startWorker([allowancesReader]);
  const onDemandBackfill = createOnDemandBackfill({
    ...{ datasets: [erc20Approvals], perKey: 2, chains: [chain], maxCalls: 0 },
  });
  api = await exampleApi(database, [
    createWalletApprovalsRoute({
      projections: createSubjectProjections(database),
      onDemandBackfill,
      nodeReads,
      readPrices: async () => new Map(),
    }),
  ]);
});
afterAll(async () => {
  ending.abort();
  await syncing;
});

const request = async (query = '', wallet: string = owner()): Promise<Response> =>
  api.request(`/api/v2.2/wallets/${wallet}/approvals${query}`, { headers: { 'x-api-key': EXAMPLE_KEY } });

async function get(query = '', wallet?: string): Promise<Answer> {
  const answer = await request(query, wallet);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
  return answerSchema.parse(JSON.parse(text));
}

/** Waits until all mined blocks are indexed. */
async function indexed(): Promise<void> {
  const head = Number(await stage.devnet.client.getBlockNumber());
  await vi.waitFor(async () => expect(Number((await get('?limit=1')).indexed.to_block)).toBe(head), soon);
}

const account = (index: number): Address => {
  const found = stage.devnet.accounts[index];
  if (found === undefined) throw new Error(`There is no account ${index}`);
  return found;
};
const owner = (): Address => account(0);

const approve = (spender: Address, value: bigint, of = token) =>
  stage.devnet.send({ ...of, functionName: 'approve', args: [spender, value] });

const shown = ({ result }: Answer): string[] =>
  result.map(
    ({ token: { address }, spender, value }) =>
      `${address === mute.address ? 'mute' : 'token'} ${stage.devnet.accounts.indexOf(spender.address as Address)} ${value}`,
  );

describe("a wallet's approvals", () => {
  test('are what tokens say is left of them, newest first, without those that were taken back or used up', async () => {
    await approve(account(1), 500n);
    await approve(account(2), maxUint256);
    await approve(account(3), 7n);
    await approve(account(4), 9n);
    await approve(account(3), 0n);
    await approve(account(5), 5n, mute);
    await stage.devnet.send({
      ...token,
      functionName: 'transferFrom',
      args: [owner(), account(6), 120n],
      from: account(1),
    });
    await stage.devnet.send({
      ...token,
      functionName: 'transferFrom',
      args: [owner(), account(6), 9n],
      from: account(4),
    });
    await indexed();
    const answer = await get();
    expect(shown(answer)).toEqual(['mute 5 5', `token 2 ${maxUint256}`, 'token 1 380']);
    expect(answer.result[1]).toMatchObject({
      unlimited: true,
      token: { current_balance: (1000n * 10n ** 18n - 129n).toString(), usd_price: null },
    });
    expect(answer.result[0]).toMatchObject({ unlimited: false, token: { current_balance: null } });
    expect(answer.indexed.complete).toBe(true);
  });

  test('are those of the branch that stays', async () => {
    await approve(account(8), 80n);
    await indexed();
    await stage.devnet.reorg(1);
    await approve(account(8), 81n);
    await indexed();
    await vi.waitFor(async () => expect(shown(await get())[0]).toBe('token 8 81'), soon);
  });

  test('of a wallet without any are an empty list', async () => {
    expect(await get('', account(9))).toMatchObject({
      page: 1,
      page_size: 100,
      limit: 100,
      cursor: null,
      result: [],
    });
  });
});

test('a dataset that is left out is told, not shown as an empty list', async () => {
  const without = await exampleApi(
    stage.scratch.database,
    [
      createWalletApprovalsRoute({
        projections: createSubjectProjections(stage.scratch.database),
        onDemandBackfill: { requestWallet: async () => 'off' },
        nodeReads: { request: async () => null },
        readPrices: async () => new Map(),
      }),
    ],
    { indexed: { chains: [stage.chain], datasets: ['erc20-transfers'] } },
  );
  const answer = await without.request(`/api/v2.2/wallets/${owner()}/approvals`, {
    headers: { 'x-api-key': EXAMPLE_KEY },
  });
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { details: { reason: 'not-indexed', configuration_key: 'DATASETS' } },
  ]);
});
