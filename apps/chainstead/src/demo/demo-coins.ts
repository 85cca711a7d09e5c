import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { type AptosLedger, createAptosLedger } from './aptos/aptos-ledger.ts';
import { type ListeningServer, listenOnLoopback } from './network/loopback-server.ts';

export interface DemoCoins extends Omit<DemoLedger, 'transactions'> {
  readonly fullnode: ListeningServer;
  readonly lastVersion: number;
}

const VERSIONS_BETWEEN = 23;

export async function startDemoCoins(): Promise<DemoCoins> {
  const { transactions, ...facts } = createDemoLedger();
  const ledger = createAptosLedger({ transactions, place: { from: 5, every: VERSIONS_BETWEEN } });
  return { ...facts, fullnode: await serveLedger(ledger), lastVersion: ledger.head };
}

const PAGE_MAX = 100;
const HEAD_TIMESTAMP = '1665609980299882';

function serveLedger(ledger: AptosLedger): Promise<ListeningServer> {
  const server = createServer((request, response) => {
    const body = bodyOf(ledger, new URL(request.url ?? '/', 'http://fullnode'));
    response.writeHead(body === null ? 404 : 200, {
      'content-type': 'application/json',
      'x-aptos-chain-id': String(ledger.chainId),
      'x-aptos-ledger-version': String(ledger.head),
      'x-aptos-ledger-oldest-version': '0',
    });
    response.end(body ?? JSON.stringify({ message: 'not found', error_code: 'web_framework_error' }));
  });
  return listenOnLoopback(server, 0);
}

function bodyOf(
  { chainId, head, transaction, blockOf }: AptosLedger,
  { pathname, searchParams }: URL,
): string | null {
  const path = pathname.replace(/\/+$/, '');
  if (path === '/v1')
    return JSON.stringify({
      chain_id: chainId,
      epoch: '1',
      ledger_version: String(head),
      oldest_ledger_version: '0',
      ledger_timestamp: HEAD_TIMESTAMP,
      node_role: 'full_node',
      oldest_block_height: '0',
      block_height: String(blockOf(head).height),
      git_hash: '',
    });
  const version = Number(/^\/v1\/blocks\/by_version\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
  if (version <= head) {
    const { height, first, last } = blockOf(version);
    return JSON.stringify({
      block_height: String(height),
      block_hash: '0x00',
      block_timestamp: HEAD_TIMESTAMP,
      first_version: String(first),
      last_version: String(last),
      transactions: null,
    });
  }
  if (path !== '/v1/transactions') return null;
  const start = Number(searchParams.get('start') ?? head);
  const limit = Math.min(Number(searchParams.get('limit') ?? PAGE_MAX), PAGE_MAX, Math.max(0, head - start + 1));
  return `[${Array.from({ length: limit }, (_, index) => transaction(start + index).toString('utf8')).join()}]`;
}

interface DemoLedger {
  readonly transactions: readonly Readonly<Record<string, unknown>>[];
  readonly symbols: readonly string[];
  readonly traded: DemoCoin;
  readonly transfers: readonly DemoCoinTransfer[];
  readonly holders: readonly (readonly [owner: string, amount: bigint])[];
}

interface DemoCoin {
  readonly type: string;
  /** SHA-256 of the type, hexadecimal: its place in paths of holders. */
  readonly hash: string;
}

interface DemoCoinTransfer {
  readonly owner: string;
  readonly isDeposit: boolean;
  /** Base units. */
  readonly amount: bigint;
}

const COINS = 40;
const TRANSFERS = 12;
const WALLETS = 4;
const SUPPLY = 1_000_000_00000000n;
const FIRST_MICROSECONDS = 1_680_000_000_000_000n;
const MICROSECONDS_BETWEEN = 60_000_000n;
const DEPOSITS = 2;
const WITHDRAWALS = 3;

export function createDemoLedger(): DemoLedger {
  const coins = Array.from({ length: COINS }, (_, index) => ({ ...coinOf(index), symbol: `DEMO${index}` }));
  const { creator, type } = coinOf(COINS - 1);
  const wallets = Array.from({ length: WALLETS }, (_, index) => longAddress(0xca_0000 + index));
  const balances = new Map([[creator, SUPPLY]]);
  const transfers: DemoCoinTransfer[] = [{ owner: creator, isDeposit: true, amount: SUPPLY }];
  const moves = Array.from({ length: TRANSFERS }, (_, index) => {
    const from = index < WALLETS ? creator : itemAt(wallets, index);
    const to = itemAt(wallets, index < WALLETS ? index : index + 1);
    const amount = index < WALLETS ? SUPPLY / BigInt(10 + index) : BigInt(index) * 100_000_000n;
    balances.set(from, (balances.get(from) ?? 0n) - amount);
    balances.set(to, (balances.get(to) ?? 0n) + amount);
    transfers.push({ owner: from, isDeposit: false, amount }, { owner: to, isDeposit: true, amount });
    return {
      ...userTransaction(COINS + index, from, '0x1::coin::transfer'),
      events: [movement(from, 'Withdraw', amount, index), movement(to, 'Deposit', amount, index)],
      changes: [from, to].map((owner) => storeOf(owner, type, balances.get(owner) ?? 0n)),
    };
  });
  return {
    transactions: [...coins.map(publication), ...moves],
    symbols: coins.map(({ symbol }) => symbol),
    traded: { type, hash: createHash('sha256').update(type).digest('hex') },
    transfers,
    holders: [...balances].toSorted(([, one], [, other]) => (one < other ? 1 : -1)),
  };
}

function coinOf(index: number): { readonly creator: string; readonly type: string } {
  const number = 0xde_0000 + index;
  return { creator: longAddress(number), type: `0x${number.toString(16)}::demo::Coin` };
}

function publication({ creator, type, symbol }: ReturnType<typeof coinOf> & { symbol: string }, index: number) {
  return {
    ...userTransaction(index, creator, `${type.slice(0, type.lastIndexOf('::'))}::publish`),
    events: [movement(creator, 'Deposit', SUPPLY, 0)],
    changes: [
      writtenResource(creator, `0x1::coin::CoinInfo<${type}>`, {
        ...{ name: `Demo coin ${index}`, symbol, decimals: 8, supply: { vec: [] } },
      }),
      storeOf(creator, type, SUPPLY),
    ],
  };
}

function userTransaction(index: number, sender: string, entryFunction: string) {
  return {
    type: 'user_transaction',
    success: true,
    vm_status: 'Executed successfully',
    sender,
    sequence_number: '0',
    gas_used: '100',
    gas_unit_price: '100',
    max_gas_amount: '2000',
    timestamp: String(FIRST_MICROSECONDS + BigInt(index) * MICROSECONDS_BETWEEN),
    payload: { type: 'entry_function_payload', function: entryFunction },
  };
}

function movement(owner: string, kind: 'Deposit' | 'Withdraw', amount: bigint, sequence: number) {
  const number = kind === 'Deposit' ? DEPOSITS : WITHDRAWALS;
  return {
    guid: { creation_number: String(number), account_address: owner },
    sequence_number: String(sequence),
    type: `0x1::coin::${kind}Event`,
    data: { amount: String(amount) },
  };
}

function storeOf(owner: string, type: string, amount: bigint) {
  const handle = (number: number) => ({
    counter: '1',
    guid: { id: { addr: owner, creation_num: String(number) } },
  });
  return writtenResource(owner, `0x1::coin::CoinStore<${type}>`, {
    coin: { value: String(amount) },
    frozen: false,
    deposit_events: handle(DEPOSITS),
    withdraw_events: handle(WITHDRAWALS),
  });
}

function writtenResource(address: string, type: string, data: Readonly<Record<string, unknown>>) {
  return { type: 'write_resource', address, state_key_hash: `0x${'00'.repeat(32)}`, data: { type, data } };
}

function longAddress(number: number): string {
  return `0x${number.toString(16).padStart(64, '0')}`;
}

function itemAt<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new RangeError('The list is empty');
  return item;
}
