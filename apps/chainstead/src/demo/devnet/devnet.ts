import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, type Hash, parseAddress } from '@chainstead/core';
import {
  type Abi,
  type Client,
  createTestClient,
  defineChain,
  http,
  type PublicActions,
  publicActions,
  type TestActions,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  type WalletActions,
  walletActions,
} from 'viem';
import { DemoError } from '../demo-error.ts';
import type { CompiledContract } from './compile-solidity.ts';
import { requireDemoTool } from './demo-tools.ts';

export interface DevnetOptions {
  readonly chainId?: number;
  readonly port?: number;
  readonly args?: readonly string[];
}

export interface DevnetCall {
  readonly address: Address;
  readonly abi: Abi;
  readonly functionName: string;
  readonly args?: readonly unknown[];
  readonly from?: Address;
  readonly value?: bigint;
  readonly gas?: bigint;
}

type ReorgRequest = { Method: 'anvil_reorg'; Parameters: readonly unknown[]; ReturnType: unknown };

export type DevnetClient = Client & TestActions & PublicActions & WalletActions;

export interface Devnet {
  readonly url: string;
  readonly webSocketUrl: string;
  readonly chainId: number;
  readonly accounts: readonly Address[];
  readonly client: DevnetClient;
  deploy(contract: CompiledContract, args?: readonly unknown[]): Promise<Address>;
  /** Once mined. @throws DemoError if the transaction failed */
  send(call: DevnetCall): Promise<TransactionReceipt>;
  mine(blocks?: number): Promise<void>;
  /** Replaces `depth` blocks by empty ones, with `transactions` (raw or requests). */
  reorg(
    depth: number,
    transactions?: readonly (readonly [transaction: object | string, block: number])[],
  ): Promise<void>;
  stop(): Promise<void>;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const POLLING_INTERVAL_MS = 20;

/** On a free port. @throws DemoError without a binary, or if it does not start */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const { chainId = 31_337, port = 0, args = [] } = options;
  const settings = ['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId)];
  const child = spawnDependent(anvilBinary(), [...settings, ...args]);
  try {
    return await connect(child, settings, chainId);
  } catch (error) {
    await child.stop();
    throw error;
  }
}

async function connect(child: DependentProcess, settings: readonly string[], chainId: number): Promise<Devnet> {
  const host = await firstLine(
    child,
    (line) => /^Listening on (\S+)/.exec(line)?.[1],
    (output) => new DemoError(`anvil did not start: ${output.trim()}`, { settings }),
  );
  const url = `http://${host}`;
  const client = createClient(url, chainId);
  const accounts = (await client.getAddresses()).map(parseAddress);
  return {
    url,
    webSocketUrl: `ws://${host}`,
    chainId,
    accounts,
    client,
    deploy: (contract, constructorArgs = []) => deploy(client, accounts, contract, constructorArgs),
    send: (call) => send(client, accounts, call),
    mine: (blocks = 1) => client.mine({ blocks }),
    async reorg(depth, transactions = []) {
      await client.request<ReorgRequest>({ method: 'anvil_reorg', params: [depth, transactions] });
    },
    stop: () => child.stop(),
  };
}

function createClient(url: string, chainId: number): DevnetClient {
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 };
  const chain = defineChain({
    id: chainId,
    name: 'Devnet',
    nativeCurrency,
    rpcUrls: { default: { http: [url] } },
  });
  return createTestClient({ mode: 'anvil', chain, transport: http(url), pollingInterval: POLLING_INTERVAL_MS })
    .extend(publicActions)
    .extend(walletActions);
}

async function deploy(
  client: DevnetClient,
  accounts: readonly Address[],
  contract: CompiledContract,
  args: readonly unknown[],
): Promise<Address> {
  const { abi, bytecode, name } = contract;
  const hash = await client.deployContract({ abi, bytecode, args, account: sender(accounts), chain: null });
  const receipt = await mined(client, hash, `Deployment of ${name}`);
  return parseAddress(receipt.contractAddress);
}

async function send(
  client: DevnetClient,
  accounts: readonly Address[],
  call: DevnetCall,
): Promise<TransactionReceipt> {
  const { address, abi, functionName, args = [], from = sender(accounts), value = 0n, gas } = call;
  const limit = gas === undefined ? {} : { gas };
  const request = { address, abi, functionName, args, account: from, value, chain: null, ...limit };
  const hash = await client.writeContract(request);
  return mined(client, hash, functionName);
}

const RECEIPT_POLL_FIRST_MS = 2;
const RECEIPT_POLL_MAX_MS = 20;
const RECEIPT_PATIENCE_MS = 30_000;

/** viem looks again only at a new block, which comes only with a transaction. */
async function mined(
  client: DevnetClient,
  hash: Hash | `0x${string}`,
  what: string,
): Promise<TransactionReceipt> {
  const deadline = Date.now() + RECEIPT_PATIENCE_MS;
  for (let waitMs = RECEIPT_POLL_FIRST_MS; ; waitMs = Math.min(2 * waitMs, RECEIPT_POLL_MAX_MS)) {
    try {
      const receipt = await client.getTransactionReceipt({ hash });
      if (receipt.status === 'success') return receipt;
      throw new DemoError(`${what} failed on the devnet`, { hash });
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw error;
      if (Date.now() > deadline) throw new DemoError(`${what} was not mined in time`, { hash });
    }
    await sleep(waitMs);
  }
}

function sender(accounts: readonly Address[]): Address {
  const [first] = accounts;
  if (first === undefined) throw new DemoError('The devnet has no accounts');
  return first;
}

/** The package's launcher script would be another process in between. */
function anvilBinary(): string {
  const name = `@foundry-rs/anvil-${platform()}-${ARCHITECTURES[arch()] ?? arch()}`;
  const launcher = requireDemoTool().resolve('@foundry-rs/anvil/package.json');
  try {
    return createRequire(launcher).resolve(`${name}/bin/anvil`);
  } catch (cause) {
    throw new DemoError(
      `There is no anvil for this machine (${name})`,
      { cause: String(cause) },
      'Install the optional dependencies: npm ci --include=optional',
    );
  }
}

export interface DependentProcess {
  readonly stdout: Readable;
  readonly errorOutput: string;
  readonly exitCode: number | null;
  stop(): Promise<void>;
}

/** The kernel closes the shell's input when the parent is gone, and the shell ends the program. */
const LEASH = `
"$0" "$@" </dev/null & child=$!
trap 'kill $child 2>/dev/null' TERM INT
( cat >/dev/null; kill $child 2>/dev/null ) <&3 & watcher=$!
wait $child; code=$?
kill $watcher 2>/dev/null
exit $code
`;

const ERROR_OUTPUT_BYTES = 8_192;

export function spawnDependent(program: string, args: readonly string[]): DependentProcess {
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(
    'sh',
    ['-c', `exec 3<&0; ${LEASH}`, program, ...args],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  let errorOutput = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-ERROR_OUTPUT_BYTES);
  });
  return {
    stdout: child.stdout,
    get errorOutput() {
      return errorOutput;
    },
    get exitCode() {
      return child.exitCode;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.stdin.end();
      await exited;
    },
  };
}

/** Drops later lines: a full or closed pipe would stop the child. @throws errors of `onExit` */
export function firstLine<T>(
  child: DependentProcess,
  read: (line: string) => T | undefined,
  onExit: (errorOutput: string) => Error,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let rest = '';
  const onData = (text: string): void => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const found = read(line);
      if (found === undefined) continue;
      child.stdout.off('data', onData).resume();
      resolve(found);
      return;
    }
  };
  child.stdout.setEncoding('utf8').on('data', onData);
  child.stdout.once('close', () => reject(onExit(child.errorOutput)));
  return promise;
}
