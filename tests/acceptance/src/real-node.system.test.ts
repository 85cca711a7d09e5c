/** The real program over a real node: contracts are deployed, used and reorganised on anvil. */

import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import {
  compileDemoContracts,
  DEMO_NFT_ABI,
  DEMO_TOKEN_ABI,
  type Devnet,
  type Program,
  type ScratchDatabase,
} from '@chainstead/testkit';
import { parseAbiItem, stringToHex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DevnetProgramStage, openDevnetProgramStage } from './devnet-program.ts';
import { waitUntil } from './indexed-chain.ts';

// Processes start slowly on a busy machine.
const KEY = 'acceptance-key-0123456789';
const CHAIN_ID = 1_337_003;
const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');

interface Row {
  readonly address: string;
  readonly from_address: string;
  readonly to_address: string;
  readonly value: string;
  readonly block_number: string;
  readonly block_hash: string;
  readonly transaction_hash: string;
  readonly log_index: number;
  readonly token_name: string | null;
  readonly token_symbol: string | null;
  readonly token_decimals: string | null;
}

let devnet: Devnet;
let scratch: ScratchDatabase;
let stage: DevnetProgramStage;
let program: Program;
let [token, oldToken, nft, wallet]: Address[] = [];

beforeAll(async () => {
  stage = await openDevnetProgramStage(CHAIN_ID);
  ({ devnet, scratch } = stage);
  const contracts = await compileDemoContracts();
  [, wallet] = devnet.accounts;
  token = await devnet.deploy(contracts.DemoToken, ['Demo Dollar', 'DUSD', 6]);
  oldToken = await devnet.deploy(contracts.Bytes32Token, [
    stringToHex('Old Maker', { size: 32 }),
    stringToHex('OMKR', { size: 32 }),
  ]);
  nft = await devnet.deploy(contracts.ThreeTopicNft);
  await send(token, 'mint', [devnet.accounts[0], 1_000_000_000n]);
  for (let value = 1n; value <= 9n; value++) await send(token, 'transfer', [wallet, value]);
  for (let id = 1n; id <= 3n; id++)
    await devnet.send({ address: nft, abi: DEMO_NFT_ABI, functionName: 'mint', args: [wallet, id] });
  await send(oldToken, 'mint', [wallet, 10n ** 18n]);
  program = start();
});
afterAll(() => stage?.close());

function start(): Program {
  return stage.start(KEY, { START_BLOCK_DEVNET: '0' });
}

async function send(
  address: Address,
  functionName: string,
  args: readonly unknown[],
  from?: Address,
): Promise<void> {
  await devnet.send({
    address,
    abi: DEMO_TOKEN_ABI,
    functionName,
    args,
    ...(from === undefined ? {} : { from }),
  });
}

/** Every page of the wallet's transfers, oldest first. */
async function readWallet(): Promise<Row[]> {
  const base = `${await program.url}/api/v2.2/${wallet}/erc20/transfers`;
  const rows: Row[] = [];
  for (let query = `chain=devnet&order=ASC&limit=4`; query !== ''; ) {
    const response = await fetch(`${base}?${query}`, { headers: { 'x-api-key': KEY } });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status} ${text}`);
    const page = JSON.parse(text) as { cursor: string | null; result: Row[] };
    rows.push(...page.result);
    query = page.cursor === null ? '' : `cursor=${page.cursor}`;
  }
  return rows;
}

/** What the node itself says of the wallet's transfers of real ERC-20 tokens, in the words of the API. */
async function requestNode(): Promise<unknown[]> {
  const logs = await devnet.client.getLogs({
    event: TRANSFER,
    address: [token, oldToken].filter((address) => address !== undefined),
    fromBlock: 0n,
    strict: true,
  });
  return logs
    .filter(({ args }) => [args.from, args.to].some((side) => side.toLowerCase() === wallet))
    .map((log) => ({
      address: log.address.toLowerCase(),
      from_address: log.args.from.toLowerCase(),
      to_address: log.args.to.toLowerCase(),
      value: log.args.value.toString(),
      block_number: log.blockNumber.toString(),
      block_hash: log.blockHash,
      transaction_hash: log.transactionHash,
      log_index: log.logIndex,
    }));
}

const FACTS = [
  'address',
  'from_address',
  'to_address',
  'value',
  'block_number',
  'block_hash',
  'transaction_hash',
  'log_index',
] as const;

function factsOf(row: Row): unknown {
  return Object.fromEntries(FACTS.map((name) => [name, row[name]]));
}

async function untilServedAsTheNodeSays(): Promise<void> {
  await waitUntil(async () => {
    const [served, said] = [(await readWallet()).map(factsOf), await requestNode()];
    return JSON.stringify(served) === JSON.stringify(said)
      ? null
      : `served are ${JSON.stringify(served)}, the node says ${JSON.stringify(said)}\n${program.output()}`;
  });
}

describe('the program over a real node', () => {
  it('serves what the node says, with token metadata, and without the NFT that looks like an ERC-20', async () => {
    await untilServedAsTheNodeSays();
    expect(await readWallet()).toHaveLength(10);
    await waitUntil(async () =>
      (await readWallet()).every((row) => row.token_name !== null)
        ? null
        : `facts are missing\n${program.output()}`,
    );
    const demoDollars = Array.from({ length: 9 }, (_, index) => ({
      ...{ token_name: 'Demo Dollar', token_symbol: 'DUSD', token_decimals: '6', address: token },
      ...{ value: String(index + 1), value_decimal: `0.00000${index + 1}` },
    }));
    const oldMaker = { token_name: 'Old Maker', token_symbol: 'OMKR', token_decimals: '18', value_decimal: '1' };
    expect(await readWallet()).toMatchObject([...demoDollars, { ...oldMaker, from_address: ZERO_ADDRESS }]);
    // Its events were stored as transfers, until ERC-165 returned its kind.
    const stored = await scratch.database.query(
      sql`SELECT DISTINCT standard FROM tokens WHERE address = decode(${nft?.slice(2) ?? null}, 'hex')`,
    );
    expect(stored).toEqual([{ standard: 'erc721' }]);
  });

  it('follows new blocks, and the chain by each of its names', async () => {
    await send(token as Address, 'transfer', [devnet.accounts[2], 5n], wallet);
    await send(token as Address, 'transfer', [wallet, 0n], wallet);
    await untilServedAsTheNodeSays();
    const url = `${await program.url}/api/v2.2/${wallet}/erc20/transfers`;
    for (const chain of ['devnet', String(CHAIN_ID), `0x${CHAIN_ID.toString(16)}`]) {
      const response = await fetch(`${url}?chain=${chain}`, { headers: { 'x-api-key': KEY } });
      expect(((await response.json()) as { result: unknown[] }).result).toHaveLength(12);
    }
  });

  it('rolls back what anvil_reorg takes away, and indexes what comes instead', async () => {
    const before = await readWallet();
    await devnet.reorg(3);
    await untilServedAsTheNodeSays();
    expect((await readWallet()).length).toBeLessThan(before.length);
    await send(token as Address, 'transfer', [wallet, 77n]);
    await untilServedAsTheNodeSays();
    expect((await readWallet()).at(-1)?.value).toBe('77');
  });

  it('stops within seconds by SIGTERM with exit code 0, and goes on where it was', async () => {
    const stopped = await program.stop();
    expect(stopped.code, program.output()).toBe(0);
    expect(stopped.milliseconds).toBeLessThan(8_000);
    const connections = await scratch.database.query(
      sql`SELECT application_name FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'chainstead %'`,
    );
    expect(connections).toEqual([]);

    // While it is down: a reorganisation, and blocks.
    await devnet.reorg(2);
    for (let value = 100n; value < 105n; value++) await send(token as Address, 'transfer', [wallet, value]);
    program = start();
    await untilServedAsTheNodeSays();
    expect((await readWallet()).at(-1)?.value).toBe('104');
    expect((await program.stop()).code, program.output()).toBe(0);
  });
});
