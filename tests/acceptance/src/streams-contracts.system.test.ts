/** Webhooks of contracts by name, from the running program over a real node: children of a factory, in their first block too, and through a reorg. */
import { createChainRegistry } from '@chainstead/chains';
import { addContract, readContractStatuses } from '@chainstead/contracts';
import { type Address, parseAddress } from '@chainstead/core';
import { type CompiledContract, compileSolidity, type WebhookReceiver } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { type Abi, decodeEventLog, encodeFunctionData, type Hex } from 'viem';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { waitUntil } from './indexed-chain.ts';
import { arrivedOf, awaitWebhook, createStreamStage } from './stream-stage.ts';

const SOURCE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Pool {
  event Ping(uint256 indexed number, address by);
  function ping(uint256 number) external { emit Ping(number, msg.sender); }
}
contract Hub {
  event PoolCreated(uint256 indexed salt, address pool);
  function create(uint256 salt) external { adopt(new Pool(), salt); }
  function adopt(Pool pool, uint256 salt) public {
    pool.ping(salt);
    emit PoolCreated(salt, address(pool));
    pool.ping(salt + 1);
  }
}`;

const CHAIN_ID = 1_337_047;
const stage = stageOfFile(() => createStreamStage(CHAIN_ID));
let contracts: Record<'Pool' | 'Hub', CompiledContract>;
let receiver: WebhookReceiver;
let hub: Address;
let stream: string;
/** Child that the first test names, and one that a reorg takes away again. */
let pool: Address;
let strange: Address;

beforeAll(async () => {
  const compiled = await compileSolidity({ 'Hub.sol': SOURCE });
  const of = (name: string) => {
    const found = compiled.get(name);
    if (found === undefined) throw new Error(`${name} was not compiled`);
    return found;
  };
  contracts = { Pool: of('Pool'), Hub: of('Hub') };
  receiver = await stage.receive();
  hub = await stage.devnet.deploy(contracts.Hub);
});
beforeAll(async () => {
  await addPools();
  stream = await stage.watch(receiver, {
    includeContractLogs: true,
    contracts: ['pools.Ping'],
    sendRemoved: true,
  });
});

const send = (name: 'Pool' | 'Hub', address: Address, functionName: string, ...args: readonly unknown[]) =>
  stage.devnet.send({ address, abi: contracts[name].abi, functionName, args });

/** Adds the pools of the hub. @returns when new blocks are indexed with them */
async function addPools(): Promise<void> {
  const { database } = stage.scratch;
  const chain = createChainRegistry({ additional: [{ key: 'devnet', id: CHAIN_ID }] }).get(CHAIN_ID);
  await addContract(database, {
    ...{
      name: 'pools',
      chain,
      addresses: [hub],
      firstBlock: 0,
      events: null,
      indexed: [],
      abi: contracts.Pool.abi,
    },
    factory: { of: null, event: 'PoolCreated(uint256 indexed salt, address pool)', child: 'pool' },
  });
  await waitUntil(async () => {
    const { blockNumber } = await send('Hub', hub, 'create', 0n);
    await stage.untilFollowed(blockNumber);
    const statuses = await readContractStatuses(database);
    const pings = statuses.find(({ table }) => table === 'contracts.pools_ping')?.blocks ?? [];
    return pings.some(({ to }) => BigInt(to) >= blockNumber) ? null : stage.program.output();
  });
}

const webhookShape = z.object({
  abi: z.array(z.looseObject({ type: z.string() })),
  logs: z.array(
    z.looseObject({ address: z.string(), data: z.string(), topic0: z.string(), topic1: z.string().nullable() }),
  ),
});

/** Returns emitters and numbers of the pings in a webhook, decoded with its own ABI by viem. */
function pingsIn(body: string): readonly string[] {
  const { abi, logs } = webhookShape.parse(JSON.parse(body));
  return logs.map(({ address, data, topic0, topic1 }) => {
    const topics: [Hex, ...Hex[]] = [topic0 as Hex, ...(topic1 === null ? [] : [topic1 as Hex])];
    const { eventName, args } = decodeEventLog({ abi: abi as unknown as Abi, topics, data: data as Hex });
    return `${eventName} ${z.object({ number: z.bigint() }).parse(args).number} ${address}`;
  });
}

async function poolOf(blockNumber: bigint): Promise<Address> {
  const logs = await stage.devnet.client.getLogs({ address: hub, fromBlock: blockNumber, toBlock: blockNumber });
  return parseAddress(`0x${logs[0]?.data.slice(-40)}`);
}

/** Returns the pings in the unconfirmed webhook of a block. */
async function pingsOf(blockNumber: bigint): Promise<readonly string[]> {
  const { body } = await awaitWebhook(stage, receiver, stream, { blockNumber, confirmed: false });
  return pingsIn(body);
}

test('children match from the log after the one that names them', async () => {
  const created = await send('Hub', hub, 'create', 10n);
  pool = await poolOf(created.blockNumber);
  expect(await pingsOf(created.blockNumber)).toEqual([`Ping 11 ${pool}`]);
  const used = await send('Pool', pool, 'ping', 12n);
  expect(await pingsOf(used.blockNumber)).toEqual([`Ping 12 ${pool}`]);

  strange = await stage.devnet.deploy(contracts.Pool);
  await send('Pool', strange, 'ping', 13n);
  const adopted = await send('Hub', hub, 'adopt', strange, 14n);
  expect(await pingsOf(adopted.blockNumber)).toEqual([`Ping 15 ${strange}`]);
});

test('children match no more after a reorg removed the log that names them', async () => {
  const { devnet } = stage;
  // The new branch lacks the log that names the pool, and has another ping of it.
  const data = encodeFunctionData({ abi: contracts.Pool.abi, functionName: 'ping', args: [16n] });
  await devnet.reorg(1, [[{ from: devnet.accounts[0], to: strange, gas: '0x100000', data }, 0]]);
  await devnet.mine(1);
  const last = await send('Pool', pool, 'ping', 17n);
  expect(await pingsOf(last.blockNumber)).toEqual([`Ping 17 ${pool}`]);
  const arrived = arrivedOf(stage, receiver, stream).filter(({ parsed }) => !parsed.confirmed);
  expect(arrived.filter(({ parsed }) => parsed.removed === true).flatMap(({ body }) => pingsIn(body))).toEqual([
    `Ping 15 ${strange}`,
  ]);
  expect(arrived.flatMap(({ body }) => pingsIn(body)).filter((ping) => /^Ping 1[346] /.test(ping))).toEqual([]);
});
