/** Executes transactions on a devnet whose logs are given beforehand, for contracts of which only the events are known. */
import { type Address, type Hex, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { decodeEventLog, encodeFunctionData, parseAbi, parseEther, type TransactionReceipt } from 'viem';
import { compileContracts } from './compile-contracts.ts';
import type { Devnet } from './devnet.ts';
import { askNode } from './rpc-client.ts';
import { TestkitError } from './testkit-error.ts';

/** A log to be emitted. */
export type PlayedLog = Pick<Log, 'address' | 'topics' | 'data'>;

export interface LogPlayerOptions {
  /** Where real tokens stand: their transfers are made, not only emitted. Other addresses emit what they are told. */
  readonly tokens: {
    readonly erc721: Address;
    readonly erc1155: Address;
    readonly erc20: Address;
  };
}

export interface LogPlayer {
  /**
   * One transaction with these logs in this order, and its receipt. What is transferred is minted before. Every play starts
   * from the same state: blocks of the one before are gone.
   * @throws TestkitError when the transaction fails
   */
  play(logs: readonly PlayedLog[]): Promise<TransactionReceipt>;
}

const TOKENS = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'function mint(address to, uint256 tokenId)',
  'function mint(address to, uint256 id, uint256 amount)',
  'function transferFrom(address from, address to, uint256 tokenOrValue)',
  'function safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data)',
  'function setApprovalForAll(address operator, bool approved)',
  'function approve(address spender, uint256 value)',
  'function deposit() payable',
]);
const ERC20 = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']);
const RICH = parseEther('1000');

interface Call {
  readonly target: Address;
  readonly data: Hex;
}

interface TokenTransfer {
  readonly kind: keyof LogPlayerOptions['tokens'];
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  /** Absent: ERC-20. */
  readonly id?: bigint;
  readonly value: bigint;
}

/** Puts the tokens' code where they are to stand. */
export async function createLogPlayer(devnet: Devnet, { tokens }: LogPlayerOptions): Promise<LogPlayer> {
  const { client, url } = devnet;
  const contract = await compileContracts(['LogEmitter', 'DemoNft', 'GalleryPrints', 'WrappedEther']);
  const codeOf = async (address: Address): Promise<Hex> => {
    const code = await client.getCode({ address });
    if (code === undefined) throw new TestkitError('A deployed contract has no code', { address });
    return code;
  };
  const director = await devnet.deploy(contract('LogEmitter'));
  const emitterCode = await codeOf(director);
  for (const [name, address] of [
    ['DemoNft', tokens.erc721],
    ['GalleryPrints', tokens.erc1155],
    ['WrappedEther', tokens.erc20],
  ] as const)
    await client.setCode({ address, bytecode: await codeOf(await devnet.deploy(contract(name))) });
  await askNode(url, 'anvil_autoImpersonateAccount', [true]);
  const { abi } = contract('LogEmitter');
  const emission = ({ address, topics, data }: PlayedLog): Call => ({
    target: address,
    data: encodeFunctionData({ abi, functionName: 'emitLog', args: [topics, data] }),
  });
  const run = (calls: readonly Call[]) => devnet.send({ address: director, abi, functionName: 'run', args: [calls] });
  const ready = new Set<Address>([ZERO_ADDRESS]);
  let snapshot = await client.snapshot();

  return {
    async play(logs) {
      const steps = logs.map((log) => ({ log, transfer: transferOf(log, tokens) }));
      const transfers = steps.flatMap(({ transfer }) => transfer ?? []);
      await client.revert({ id: snapshot });
      for (const { from } of transfers) {
        if (!ready.has(from)) await makeReady(devnet, tokens, from, director);
        ready.add(from);
      }
      snapshot = await client.snapshot();
      for (const { log, transfer } of steps)
        if (transfer === null) await client.setCode({ address: log.address, bytecode: emitterCode });
      const minted = mints(transfers);
      if (minted.length > 0) await run(minted);
      return run(steps.map(({ log, transfer }) => (transfer === null ? emission(log) : movement(transfer))));
    },
  };
}

/** The giver has money, and lets the director move all that it has. */
async function makeReady(
  devnet: Devnet,
  { erc721, erc1155, erc20 }: LogPlayerOptions['tokens'],
  from: Address,
  director: Address,
): Promise<void> {
  await devnet.client.setBalance({ address: from, value: 2n * RICH });
  const call = { abi: TOKENS, from };
  await devnet.send({ ...call, address: erc721, functionName: 'setApprovalForAll', args: [director, true] });
  await devnet.send({ ...call, address: erc1155, functionName: 'setApprovalForAll', args: [director, true] });
  await devnet.send({ ...call, address: erc20, functionName: 'approve', args: [director, RICH] });
  await devnet.send({ ...call, address: erc20, functionName: 'deposit', value: RICH });
}

/** The transfer that the log tells of; null where it is not one of the real tokens'. */
function transferOf(log: PlayedLog, tokens: LogPlayerOptions['tokens']): TokenTransfer | null {
  const [signature, ...indexed] = log.topics;
  if (signature === undefined) return null;
  const encoded = { topics: [signature, ...indexed] as [Hex, ...Hex[]], data: log.data };
  const token = log.address;
  if (token === tokens.erc721) {
    const { from, to, tokenId } = decodeEventLog({ abi: TOKENS, eventName: 'Transfer', ...encoded }).args;
    return { kind: 'erc721', token, from: lower(from), to: lower(to), id: tokenId, value: 1n };
  }
  if (token === tokens.erc1155) {
    const { from, to, id, value } = decodeEventLog({ abi: TOKENS, eventName: 'TransferSingle', ...encoded }).args;
    return { kind: 'erc1155', token, from: lower(from), to: lower(to), id, value };
  }
  if (token !== tokens.erc20) return null;
  const { from, to, value } = decodeEventLog({ abi: ERC20, eventName: 'Transfer', ...encoded }).args;
  return { kind: 'erc20', token, from: lower(from), to: lower(to), value };
}

/** What givers need to have before, beyond what they are given on the way. */
function mints(transfers: readonly TokenTransfer[]): Call[] {
  const held = new Map<string, bigint>();
  const calls: Call[] = [];
  for (const transfer of transfers) {
    const { token, from, to, id, value } = transfer;
    if (id === undefined) continue;
    const [giver, taker] = [`${token}:${id}:${from}`, `${token}:${id}:${to}`];
    const missing = value - (held.get(giver) ?? 0n);
    if (missing > 0n && from !== ZERO_ADDRESS) calls.push(mint({ ...transfer, to: from, value: missing }));
    held.set(giver, missing > 0n ? 0n : -missing);
    held.set(taker, (held.get(taker) ?? 0n) + value);
  }
  return calls;
}

function mint({ kind, token: target, to, id = 0n, value }: TokenTransfer): Call {
  const args = kind === 'erc1155' ? ([to, id, value] as const) : ([to, id] as const);
  return { target, data: encodeFunctionData({ abi: TOKENS, functionName: 'mint', args }) };
}

function movement(transfer: TokenTransfer): Call {
  const { kind, token: target, from, to, id, value } = transfer;
  if (from === ZERO_ADDRESS) return mint(transfer);
  const data =
    kind === 'erc1155'
      ? encodeFunctionData({ abi: TOKENS, functionName: 'safeTransferFrom', args: [from, to, id ?? 0n, value, '0x'] })
      : encodeFunctionData({ abi: TOKENS, functionName: 'transferFrom', args: [from, to, id ?? value] });
  return { target, data };
}

function lower(address: Hex): Address {
  return address.toLowerCase() as Address;
}
