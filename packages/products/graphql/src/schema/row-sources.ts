import type { PgCodec, PgResource } from '@dataplan/pg';
import type { SQL } from 'pg-sql2';

export interface Finder {
  readonly name: string;
  readonly column: string;
  readonly key: FinderKey | null;
  readonly hasChain: boolean;
}

/** Eight bytes that lead an index. Different values may share them. */
interface FinderKey {
  readonly of: 'wallet_key' | 'collection_key' | 'transaction_key' | 'block_key';
  readonly column: string | null;
}

export interface RowSource {
  /** Empty: only chain and block find rows. */
  readonly finders: readonly Finder[];
  readonly isFound: boolean;
  /** Index columns after finder and chain that identify a row. Empty: few rows per value. */
  readonly order: readonly string[];
  readonly isPartitioned: boolean;
}

export const BLOCK = 'block_number';

export const LOG_PLACE: readonly string[] = [BLOCK, 'transaction_index', 'log_index'];

/** Without views that group or join whole tables: no index bounds their reads. */
export const VIEW_SOURCES: ReadonlyMap<string, RowSource> = new Map([
  ['blocks', { finders: [], isFound: false, order: [BLOCK], isPartitioned: false }],
  ['coverage', { finders: [], isFound: false, order: ['dataset', 'first_block'], isPartitioned: false }],
  ['tokens', few(plain('address', 'address_bytes'))],
  ['nft_collections', few(plain('token_address', 'token_bytes'))],
  [
    'transactions',
    few(keyed('transaction_hash', 'hash_bytes', { of: 'transaction_key', column: 'transaction_key' })),
  ],
  ['block_headers', few(keyed('block_hash', 'hash_bytes', { of: 'block_key', column: 'block_key' }))],
  ['pools', few(ofAddress('pool'))],
  ['pool_states', ordered([BLOCK], ofAddress('pool'))],
  ['swaps', ordered(LOG_PLACE, ofAddress('pool'), unkeyed('wallet'), unkeyed('beneficiary'))],
  ['wallet_transfers', ordered(LOG_PLACE, ofAddress('wallet'))],
  ['erc20_transfers', ordered(LOG_PLACE, { ...ofAddress('from'), name: 'from_address' })],
  ['erc20_approvals', ordered(LOG_PLACE, ofAddress('owner'))],
  ['wrapped_coin_moves', ordered(LOG_PLACE, ofAddress('account'))],
  ['internal_transfers', ordered([BLOCK, 'transaction_index', 'trace_index'], ofAddress('account'))],
  ['account_transactions', ordered([BLOCK, 'transaction_index'], ofAddress('account'))],
  ['erc4626_vaults', ordered([...LOG_PLACE, 'is_receiver'], ofAddress('account'))],
  ['logs', ordered(LOG_PLACE, ofAddress('contract'))],
  ['nft_transfers', ordered([...LOG_PLACE, 'item'], ofCollection())],
  ['nft_trades', ordered([...LOG_PLACE, 'item'], ofCollection(), ofParty('seller'), ofParty('buyer'))],
]);

/** A view without an entry has rows of accounts if it has the columns of datasets from a line of ABI. */
export function sourceOfView(name: string, columns: object): RowSource | null {
  const isOfAccounts = [...LOG_PLACE, 'account_bytes', 'account_key'].every((column) =>
    Object.hasOwn(columns, column),
  );
  return VIEW_SOURCES.get(name) ?? (isOfAccounts ? ordered(LOG_PLACE, ofAddress('account')) : null);
}

function ordered(order: readonly string[], ...finders: readonly Finder[]): RowSource {
  return { finders, isFound: true, order, isPartitioned: true };
}

function few(finder: Finder): RowSource {
  return { finders: [finder], isFound: true, order: [], isPartitioned: true };
}

function plain(name: string, column: string): Finder {
  return { name, column, key: null, hasChain: true };
}

function keyed(name: string, column: string, key: FinderKey): Finder {
  return { name, column, key, hasChain: true };
}

function ofAddress(name: string): Finder {
  return keyed(name, `${name}_bytes`, { of: 'wallet_key', column: `${name}_key` });
}

function ofCollection(): Finder {
  return keyed('token_address', 'token_bytes', { of: 'collection_key', column: 'collection_key' });
}

function ofParty(name: string): Finder {
  return { ...ofAddress(name), hasChain: false };
}

function unkeyed(name: string): Finder {
  return { name, column: `${name}_bytes`, key: { of: 'wallet_key', column: null }, hasChain: false };
}

export const SHOWN_SCHEMAS = ['contracts', 'analytics'] as const;

export function tableOf({ from, name }: PgResource): SQL {
  if (typeof from === 'function') throw new RangeError(`${name} is no table`);
  return from;
}

export function codecOf(resource: PgResource, name: string): PgCodec {
  const codec = resource.codec.attributes?.[name]?.codec;
  if (codec === undefined) throw new RangeError(`${resource.name} has no column ${name}`);
  return codec;
}

export interface RowArguments {
  /** Decimal id. Exactly one of `chain` and `chain_id` has a value. */
  readonly chain?: string | null | undefined;
  readonly chain_id?: string | null | undefined;
  readonly where?: Readonly<Record<string, unknown>> | null | undefined;
  readonly from_block?: string | null | undefined;
  readonly to_block?: string | null | undefined;
  readonly order?: 'ASC' | 'DESC' | null | undefined;
  readonly after?: string | null | undefined;
}
