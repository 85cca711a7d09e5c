/** A devnet with a token and a contract to call, behind a proxy that can fail. For tests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import {
  type Address,
  createMetricsRegistry,
  parseAddress,
  parseHash,
  silentLogger,
  systemClock,
} from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import {
  type Closable,
  closeOf,
  compileDecodingBomb,
  compileDemoContracts,
  compileSolidity,
  type Devnet,
  postJson,
  startDevnet,
} from '@chainstead/testkit';
import type { Abi, TransactionReceipt } from 'viem';
import type { Match } from '../../matching/match.ts';
import type { BodyBlock } from '../../payload/render-body.ts';

const ORACLE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Oracle {
  uint256 public stored;
  function set(uint256 value) external payable { stored = value; }
  function twice(uint256 value) external pure returns (uint256 doubled) { return value * 2; }
  function pair(address who) external view returns (uint256, address owner) { return (who.balance, who); }
  function sum(uint256[] calldata values) external pure returns (uint256 total) {
    for (uint256 i; i < values.length; i++) total += values[i];
  }
  function caller() external view returns (address) { return msg.sender; }
  function zeros(uint256 size) external pure returns (bytes memory) { return new bytes(size); }
  function fails() external pure returns (uint256) { revert("no luck"); }
}`;

export interface DevnetStage extends Closable {
  readonly devnet: Devnet;
  readonly chain: Chain;
  readonly token: Address;
  readonly oracle: Address;
  /** A contract whose `bomb()` response decodes to far more data than its size. */
  readonly bomb: Address;
  /** Functions of the oracle and the bomb. */
  readonly abi: Abi;
  /** Calls that reached the node, by method; with `isDown`, every call gets HTTP 503. */
  readonly proxy: { isDown: boolean; readonly calls: Map<string, unknown[][]> };
  /** Opens a pool without a record of earlier failures. */
  openPool(): Promise<UpstreamPool>;
  /** Mints this value to an account. */
  mint(to: Address, value: bigint): Promise<TransactionReceipt>;
  /** Returns the receipt's logs and transaction as a stream would match them. */
  matchOf(receipt: TransactionReceipt): Promise<{ readonly match: Match; readonly block: BodyBlock }>;
}

export async function openDevnetStage(): Promise<DevnetStage> {
  await using parts = new AsyncDisposableStack();
  const devnet = parts.adopt(await startDevnet(), (one) => one.stop());
  const contracts = await compileDemoContracts();
  const oracleContract = (await compileSolidity({ 'Oracle.sol': ORACLE })).get('Oracle');
  if (oracleContract === undefined) throw new Error('Oracle.sol has no Oracle');
  const token = await devnet.deploy(contracts.DemoToken, ['Stage Token', 'STG', 6]);
  const oracle = await devnet.deploy(oracleContract);
  const bombContract = await compileDecodingBomb();
  const bomb = await devnet.deploy(bombContract);
  const proxy: DevnetStage['proxy'] = { isDown: false, calls: new Map() };
  const server = createServer((request, response) => {
    forward(devnet.url, proxy, request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  parts.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  const chain = devnetChain();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const later = parts.use(new AsyncDisposableStack());
  return {
    devnet,
    chain,
    token,
    oracle,
    bomb,
    abi: [...oracleContract.abi, ...bombContract.abi],
    proxy,
    async openPool() {
      const pool = later.adopt(
        createUpstreamPool({
          chain,
          upstreams: [{ url }],
          logger: silentLogger(),
          metrics: createMetricsRegistry(),
          clock: systemClock,
        }),
        (one) => one.close(),
      );
      await pool.start();
      return pool;
    },
    mint: (to, value) =>
      devnet.send({ address: token, abi: contracts.DemoToken.abi, functionName: 'mint', args: [to, value] }),
    matchOf: (receipt) => matchOf(devnet, receipt),
    ...closeOf(parts),
  };
}

function devnetChain(): Chain {
  return {
    ...createChainRegistry().get('eth'),
    id: 31_337 as Chain['id'],
    key: 'devnet',
    multicall3: null,
  };
}

async function forward(
  url: string,
  proxy: DevnetStage['proxy'],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  if (proxy.isDown) {
    response.writeHead(503).end();
    return;
  }
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
  for (const call of [body].flat()) {
    if (typeof call !== 'object' || call === null || !('method' in call) || !('params' in call)) continue;
    const method = String(call.method);
    proxy.calls.set(method, [...(proxy.calls.get(method) ?? []), Array.isArray(call.params) ? call.params : []]);
  }
  const answer = await postJson(url, body);
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}

async function matchOf(devnet: Devnet, receipt: TransactionReceipt) {
  const { timestamp } = await devnet.client.getBlock({ blockHash: receipt.blockHash });
  const transactionHash = parseHash(receipt.transactionHash);
  const from = parseAddress(receipt.from);
  const match: Match = {
    streamId: 'c28d9e2e-ae9d-4fe6-9fc0-5fcde2dcdd17',
    logs: receipt.logs.map((log) => ({
      transactionHash,
      transactionIndex: log.transactionIndex,
      logIndex: log.logIndex,
      address: parseAddress(log.address),
      topics: log.topics.map(parseHash),
      data: log.data,
      triggeredBy: [from],
    })),
    transactions: [
      {
        hash: transactionHash,
        index: receipt.transactionIndex,
        from,
        to: receipt.to === null ? null : parseAddress(receipt.to),
        transaction: { value: '0x7b' },
        receipt: {},
        triggeredBy: [from],
      },
    ],
    internalTransactions: [],
    triggeredBy: [from],
  };
  const block: BodyBlock = {
    number: Number(receipt.blockNumber),
    hash: parseHash(receipt.blockHash),
    timestamp: Number(timestamp),
  };
  return { match, block };
}
